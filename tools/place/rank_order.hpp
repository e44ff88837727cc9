// Rank orders in the formats of MPI launchers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace effort::tools {

/// Open MPI's rankfile (mpirun --rankfile).  Without hosts, nodes are those of the allocation by number: +n0, +n1, ...
/// @param node_of  [ranks]
/// @param core_of  [ranks] slots of their nodes, from 0
/// @param hosts    [nodes] names, or empty
std::string rankfile_text(std::span<const std::int32_t> node_of, std::span<const std::int32_t> core_of,
                          const std::vector<std::string>& hosts);

/// MPICH_RANK_ORDER of Cray MPICH (MPICH_RANK_REORDER_METHOD=3): the ranks in the order of the slots that they take,
/// one line per node.
std::string mpich_text(std::span<const std::int32_t> node_of, std::span<const std::int32_t> core_of,
                       std::int32_t nodes);

/// SLURM_HOSTFILE (srun --distribution=arbitrary): the host of every rank.
/// @param hosts  [nodes] names
std::string slurm_text(std::span<const std::int32_t> node_of, const std::vector<std::string>& hosts);

}  // namespace effort::tools
