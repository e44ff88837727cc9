#include "runs.hpp"

#include "analytics/codec/history.hpp"
#include "golden_run.hpp"
#include "record/writer.hpp"

namespace effort::tools::test {

record::Run run_of(int ranks, int steps, const std::vector<RegionSpec>& regions) {
  record::Run run;
  run.version = "0.1.0";
  run.name = "app";
  run.job = "7";
  run.place(std::vector<std::int32_t>(static_cast<std::size_t>(ranks), 0));
  run.steps = steps;
  run.load_metric = "time";
  run.metrics = {{"time", "s"}};
  run.wall_seconds = 10;
  run.own_cpu_seconds = {0.25};
  run.own_bytes = {1024};
  for (const RegionSpec& spec : regions) {
    record::Series s;
    s.region = spec.name;
    s.kind = spec.kind;
    s.total = spec.mean * ranks;
    s.mean_over_ranks = spec.mean;
    s.max_over_ranks = spec.mean * (1 + spec.imbalance);
    s.max_rank = ranks > 1 ? 1 : 0;
    s.imbalance = spec.imbalance;
    run.series.push_back(s);
  }
  return run;
}

std::vector<std::byte> file_of(const record::Run& run) { return record::encode(run, {}); }

std::vector<std::byte> interleaved_file(bool united) {
  constexpr int steps = 40, late = 25;
  record::Run run = run_of(7, steps, {{"first"}, {"second"}});
  run.place(std::vector<std::int32_t>{0, 1, 0, 1, 0, 1, 0});
  run.own_cpu_seconds = {0.25, 0.5};
  run.own_bytes = {1024, 2048};
  run.metrics.push_back({"cells/all", ""});
  run.series.push_back(run.series[0]);
  run.series.back().metric = 1;
  std::vector<std::vector<std::byte>> parts;
  const auto load = [](std::uint32_t series, std::int32_t rank, int step) {
    return 1 + series + 0.1 * rank + 0.01 * ((rank * 5 + step * 3) % 17);
  };
  if (united) {
    parts.push_back(record::test::shared_histories(
        run, {0, late, 0}, [&](int series, const std::vector<std::int32_t>& ranks, int first) {
          std::vector<double> block;
          for (std::int32_t rank : ranks) {
            for (int step = first; step < steps; ++step)
              block.push_back(load(static_cast<std::uint32_t>(series), rank, step));
          }
          return block;
        }));
    return record::encode(run, parts);
  }
  for (std::int32_t node = 0; node < 2; ++node) {
    const std::vector<std::int32_t> ranks = run.ranks_of_node(node);
    record::NodePart part;
    part.node = node;
    for (std::uint32_t series = 0; series < 3; ++series) {
      const int first = series == 1 ? late : 0;
      codec::History history(ranks.size(), codec::Target::passes(40));
      std::vector<double> block;
      for (std::int32_t rank : ranks) {
        for (int step = first; step < steps; ++step) block.push_back(load(series, rank, step));
      }
      history.append(block, static_cast<std::size_t>(steps - first));
      part.tiles.push_back({series, first, history.serialize_final()});
    }
    parts.push_back(record::encode_part(part));
  }
  return record::encode(run, parts);
}

}  // namespace effort::tools::test
