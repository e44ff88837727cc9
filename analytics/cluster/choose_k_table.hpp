// Chooses k from an existing table of distances.
#pragma once

#include "analytics/cluster/choose_k.hpp"
#include "analytics/cluster/kmedoids.hpp"

namespace effort::cluster {

/// @param distances  between all pairs of `objects`
ChosenK choose_k(const Kernels& kernels, const DistanceTable& distances, const Signatures& objects,
                 const ChooseKParameters& parameters);

}  // namespace effort::cluster
