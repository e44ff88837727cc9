// effort cluster --rows N --cols D -k K|auto --algorithm clara|pam|quality|hierarchical in.f64
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>

#include "analytics/cluster/choose_k.hpp"
#include "analytics/cluster/clara.hpp"
#include "analytics/cluster_offline/hierarchical.hpp"
#include "analytics/cluster_offline/pam.hpp"
#include "analytics/cluster_offline/quality.hpp"
#include "analytics/sampling/draw.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/kokkos_session.hpp"
#include "tools/files/output_file.hpp"
#include "tools/files/raw_file.hpp"
#include "tools/output/output.hpp"

namespace effort::tools {

namespace {

using cluster::Clustering;
using cluster::Signatures;
using Space = Kokkos::DefaultHostExecutionSpace;

/// Choosing k compares all pairs of this many objects.
constexpr std::int64_t objects_to_choose_from = 400;

int parse_k(const std::string& text, std::size_t rows) {
  if (text == "auto") return 0;
  int k = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), k);
  if (error != std::errc() || end != text.data() + text.size() || k < 1)
    throw UsageError("-k: '" + text + "' is neither auto nor a number of at least 1");
  if (static_cast<std::size_t>(k) > rows)
    throw UsageError("-k: " + text + " strata for " + std::to_string(rows) +
                     " rows: give at most as many as there are rows");
  return k;
}

/// k by silhouette on a sample, for the algorithms that do not choose it themselves.
int choose(const Space& space, const Signatures& all, const ClusterArguments& a) {
  if (a.k > 0) return a.k;
  const auto n = static_cast<std::int64_t>(all.n);
  const auto ids = sampling::draw_without_replacement(n, std::min(n, objects_to_choose_from), a.seed, 0);
  std::vector<double> values;
  values.reserve(ids.size() * all.d);
  for (std::int32_t id : ids)
    values.insert(values.end(), all.row(static_cast<std::size_t>(id)), all.row(static_cast<std::size_t>(id)) + all.d);
  return cluster::choose_k(space, Signatures{values, ids.size(), all.d}, cluster::ChooseKParameters{}).k;
}

cluster::Linkage linkage_of(const std::string& name) {
  if (name == "single") return cluster::Linkage::single;
  if (name == "complete") return cluster::Linkage::complete;
  if (name == "ward") return cluster::Linkage::ward;
  return cluster::Linkage::average;
}

Clustering run_algorithm(const Space& space, const Signatures& signatures, const ClusterArguments& a) {
  if (a.algorithm == "clara") {
    cluster::ClaraParameters p;
    p.k = a.k;
    p.samples = a.samples;
    p.sample_size = a.sample_size;
    p.seed = a.seed;
    return cluster::clara(space, signatures, p);
  }
  const int k = choose(space, signatures, a);
  if (a.algorithm == "pam") {
    cluster::PamParameters p;
    p.k = k;
    return cluster::pam(space, signatures, p);
  }
  if (a.algorithm == "quality") {
    cluster::QualityParameters p;
    p.k = k;
    p.seed = a.seed;
    return cluster::quality(space, signatures, p);
  }
  const std::vector<std::int32_t> labels =
      cluster::cut_to_number(cluster::hierarchical(space, signatures, linkage_of(a.linkage)), k);
  return cluster::with_medoids(space, signatures, labels);
}

void print_text(const ClusterArguments& a, const Clustering& c, double seconds) {
  std::printf("%s: %d strata of %zu rows, mean distance to the nearest medoid %.6g, %s\n", a.algorithm.c_str(), c.k,
              a.rows, c.cost, seconds_text(seconds).c_str());
  Table table({{"stratum", Table::Align::left}, {"rows"}, {"medoid"}});
  for (std::size_t i = 0; i < c.medoids.size(); ++i)
    table.add({std::to_string(i), std::to_string(c.sizes[i]), std::to_string(c.medoids[i])});
  std::fputs(table.text().c_str(), stdout);
  if (!c.lone.empty())
    std::printf("%zu of them %s far from all others\n", c.lone.size(),
                c.lone.size() == 1 ? "is one row" : "are single rows");
}

/// Both lists, or neither.
void write_lists(const ClusterArguments& a, const Clustering& c) {
  std::optional<OutputFile> medoids, labels;
  if (!a.medoids.empty()) write_integers(medoids.emplace(a.medoids), c.medoids);
  if (!a.labels.empty()) write_integers(labels.emplace(a.labels), c.labels);
  if (medoids) medoids->commit();
  if (labels) labels->commit();
}

}  // namespace

void run_cluster(ClusterArguments a) {
  a.k = parse_k(a.k_text, a.rows);
  if (a.sample_size > 0 && a.sample_size < a.k)
    throw UsageError("--sample-size: " + std::to_string(a.sample_size) + " is less than k; give at least k");
  const std::vector<double> values = read_raw(a.in, a.rows, a.cols);
  const KokkosSession kokkos;
  const Stopwatch watch;
  const Clustering c = on_data_of(a.in, [&] { return run_algorithm(Space(), Signatures{values, a.rows, a.cols}, a); });
  const double seconds = watch.seconds();
  write_lists(a, c);
  if (!a.json) return print_text(a, c, seconds);
  print_json({{"k", c.k},
              {"cost", c.cost},
              {"medoids", c.medoids},
              {"sizes", c.sizes},
              {"lone", c.lone},
              {"seconds", seconds}});
}

}  // namespace effort::tools
