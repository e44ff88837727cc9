#include "analytics/cluster/finish.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace effort::cluster {

void check_table_size(std::size_t n) {
  constexpr std::size_t most = 65536;
  if (n > most)
    throw std::invalid_argument("too many objects for a table of all distances (" + std::to_string(n) + ", at most " +
                                std::to_string(most) + "): use CLARA or the quality mode");
}

void label_medoids(Clustering& clustering, std::span<const std::int32_t> medoids) {
  for (std::size_t slot = 0; slot < medoids.size(); ++slot)
    clustering.labels[static_cast<std::size_t>(medoids[slot])] = static_cast<std::int32_t>(slot);
}

void count_sizes(Clustering& clustering) {
  clustering.sizes.assign(static_cast<std::size_t>(clustering.k), 0);
  for (const std::int32_t label : clustering.labels) ++clustering.sizes[static_cast<std::size_t>(label)];
}

std::vector<std::int32_t> lone_strata(std::span<const std::int64_t> sizes, const Signatures& medoids) {
  std::vector<std::int32_t> lone;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1) continue;
    const auto same = [&](std::size_t j) {
      return j != i && std::equal(medoids.row(i), medoids.row(i) + medoids.d, medoids.row(j));
    };
    bool coincides = false;
    for (std::size_t j = 0; j < sizes.size() && !coincides; ++j) coincides = same(j);
    if (!coincides) lone.push_back(static_cast<std::int32_t>(i));
  }
  return lone;
}

std::vector<double> rows_of(const Signatures& signatures, std::span<const std::int32_t> ids) {
  std::vector<double> rows;
  rows.reserve(ids.size() * signatures.d);
  for (const std::int32_t id : ids) {
    const double* row = signatures.row(static_cast<std::size_t>(id));
    rows.insert(rows.end(), row, row + signatures.d);
  }
  return rows;
}

}  // namespace effort::cluster
