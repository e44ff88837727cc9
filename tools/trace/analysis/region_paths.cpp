#include "tools/trace/analysis/region_paths.hpp"

#include "tools/trace/model/call_names.hpp"

namespace effort::tools {

namespace {

/// Whether the adapter measures the path's calls as part of the region around them.
bool is_part_of_region_around(const Trace& trace, const CallPaths& paths, std::int32_t path) {
  const std::int32_t around = paths.parent(path);
  return around != CallPaths::none && trace.regions[paths.region(around)].kind != 0 &&
         !mpi_call(trace.regions[paths.region(path)].name).empty();
}

/// [regions] whether several threads of a kept rank call it
std::vector<bool> called_by_several_threads(const Trace& trace) {
  std::vector<bool> out(trace.regions.size());
  std::vector<const TraceThread*> caller(trace.regions.size());  // threads are ordered by rank
  for (const TraceThread& thread : trace.threads) {
    for (const TraceEvent& event : thread.events) {
      if (event.kind != trace::Kind::enter && event.kind != trace::Kind::leave) continue;
      const TraceThread*& last = caller[event.id];
      if (last != nullptr && last != &thread && last->rank == thread.rank) out[event.id] = true;
      last = &thread;
    }
  }
  return out;
}

}  // namespace

RegionPaths::RegionPaths(const Trace& trace, const std::vector<WindowCalls>& table, double CallSums::*quantity,
                         const std::vector<std::uint32_t>& measured_as)
    : paths_of_(trace.regions.size()), amount_(measured_as.size()), region_amount_(trace.regions.size()) {
  for (const WindowCalls& window : table)
    for (const auto& [rank, sums] : window.of_rank)
      for (const auto& [path, sum] : sums) amount_[static_cast<std::size_t>(path)] += sum.*quantity;
  for (std::size_t p = 0; p < measured_as.size(); ++p) {
    if (measured_as[p] == none) continue;
    paths_of_[measured_as[p]].push_back(static_cast<std::int32_t>(p));
    region_amount_[measured_as[p]] += amount_[p];
  }
}

double RegionPaths::share(std::int32_t path, std::uint32_t region) const {
  const double all = region_amount_[region];
  return all > 0 ? amount_[static_cast<std::size_t>(path)] / all : 1.0 / static_cast<double>(paths_of_[region].size());
}

std::vector<std::uint32_t> timed_as(const Trace& trace, const CallPaths& paths) {
  const std::vector<bool> threaded = called_by_several_threads(trace);
  std::vector<std::uint32_t> out;  // outer paths have smaller indices
  for (std::size_t p = 0; p < paths.size(); ++p) {
    const auto path = static_cast<std::int32_t>(p);
    const std::uint32_t region = paths.region(path);
    if (is_part_of_region_around(trace, paths, path))
      out.push_back(out[static_cast<std::size_t>(paths.parent(path))]);
    else
      out.push_back(threaded[region] || is_poll(mpi_call(trace.regions[region].name)) ? RegionPaths::none : region);
  }
  return out;
}

std::vector<std::uint32_t> counted_as(const Trace& trace, const CallPaths& paths) {
  std::vector<std::uint32_t> out;
  for (std::size_t p = 0; p < paths.size(); ++p) {
    const auto path = static_cast<std::int32_t>(p);
    out.push_back(is_part_of_region_around(trace, paths, path) ? RegionPaths::none : paths.region(path));
  }
  return out;
}

}  // namespace effort::tools
