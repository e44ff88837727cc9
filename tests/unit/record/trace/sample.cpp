#include "sample.hpp"

#include <random>
#include <utility>

#include "analytics/trace/coder.hpp"
#include "check.hpp"
#include "record/trace/format.hpp"
#include "record/trace/writer.hpp"

namespace effort::record::trace::test {

Sample sample(int kinds, bool reduced) {
  Sample s;
  s.header = {"1.2.3",
              "sample",
              "job 7",
              "retrospective",
              "COMPUTE time",
              "CLOCK_MONOTONIC of node 0",
              -5,
              12,
              3,
              0.9,
              0.08,
              TimeBound::usual(),
              {{0, {0, 1, 2, 3}}, {2, {8, 9, 11}}},
              reduced ? "avgWave:0.2" : ""};
  s.names.regions = {{1, 1, -1, "MPI_Irecv"}, {2, 1, 1, "MPI_Isend"}, {3, 2, -1, "MPI_Waitall"}};
  s.names.phases = {{0, "start"}, {1, "main\n"}};
  s.names.units = {{4, "cells"}};
  s.names.communicators = {{0, "MPI_COMM_WORLD", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {}},
                           {9, "", {11, 3, 4, 0}, {5, 7}}};
  s.modules.modules = {{"app", "00ff17", "/opt/bin/app"}, {"libmesh.so.1", "", "/lib/libmesh.so.1"}};
  s.clock = {2, 1'000'000, -77, 12};
  s.ends = {{0, 30}, {2, 30}};

  std::mt19937_64 random(1);
  effort::trace::Encoder encoders[2]{effort::trace::Encoder(s.header.bound), effort::trace::Encoder(s.header.bound)};
  std::int64_t representatives[2] = {0, 0};
  for (int w = 0; w < 3; ++w) {
    for (int i = 0; i < 2; ++i) {
      const Header::Node& node = s.header.nodes[static_cast<std::size_t>(i)];
      Window window{node.node,
                    w,
                    10 * w,
                    10 * w + 9,
                    std::int64_t{1'000'000'000} * w,
                    std::int64_t{1'000'000'000} * w + 999,
                    0.07,
                    0.93,
                    {{8, 2}, {4, 1}},
                    {},
                    {}};
      if (w > 0) window.region_sums.emplace();
      if (w == 2)
        window.region_sums = {{0, 1, 0}, {2, 5'000'000'000, 4}, {3, 0, 1}, {1'000'000, 77, 1'000'000'000'000}};
      for (const std::int32_t rank : {node.ranks[0], node.ranks[2]}) {
        window.ranks.push_back(
            {rank, static_cast<std::uint16_t>(rank == 0 ? reason_sample | reason_critical : reason_partner), 0.25,
             rank == 0 ? 1 : -1, w, 100 * w});
        const Place place{rank, i, window.first_step, window.start_ns};
        Sample::Chunk c;
        c.events = w == 1 && i == 0 ? effort::trace::test::random_events(random, place, 40, kinds)
                                    : effort::trace::test::regular_steps(random, place, 12, 10);
        effort::trace::Encoder::Reduced coded;
        const bool reduce = reduced && w > 0 && (w == 2 || i == 1);
        if (reduce) {
          const std::int64_t first = std::exchange(representatives[i], representatives[i] + 2), second = first + 1;
          constexpr std::int64_t full = effort::trace::Encoder::in_full;
          std::vector<std::int64_t> times[2];
          std::int64_t begins[2] = {0, 0};
          int step = -1;
          for (const Event& e : c.events) {
            step += e.kind == Kind::step ? 1 : 0;
            if (step > 1) break;
            if (e.kind == Kind::step) begins[step] = e.time_ns;
            times[step].push_back(e.time_ns - begins[step]);
          }
          coded = encoders[i].encode_reduced(
              place, c.events, window.start_ns,
              {{full, first, first, first > 0 ? first - 1 : first, second, full, first, second, second, first},
               {times[0], times[1]},
               {}});
        } else {
          coded.coded = encoders[i].encode(place, c.events);
        }
        c.dictionary = {node.node, std::move(coded.coded.dictionary)};
        c.representatives = {node.node, std::move(coded.representatives)};
        c.chunk = {node.node, w, rank, i, c.events.size(), std::move(coded.coded.events), reduce};
        s.chunks.push_back(std::move(c));
      }
      s.windows.push_back(std::move(window));
    }
  }
  return s;
}

std::vector<std::vector<std::byte>> encoded(const Sample& s) {
  std::vector<std::vector<std::byte>> chunks{encode(s.header), encode(s.names)};
  auto next = s.chunks.begin();
  for (const Window& w : s.windows) {
    chunks.push_back(encode(w));
    for (std::size_t i = 0; i < w.ranks.size(); ++i, ++next) {
      if (!next->dictionary.coded.empty()) chunks.push_back(encode(next->dictionary));
      if (!next->representatives.coded.empty()) chunks.push_back(encode(next->representatives));
      chunks.push_back(encode(next->chunk));
    }
  }
  chunks.push_back(encode(s.clock));
  chunks.push_back(encode(s.modules));
  for (const End& end : s.ends) chunks.push_back(encode(end));
  return chunks;
}

std::vector<std::byte> file_of(const std::vector<std::vector<std::byte>>& chunks) {
  // The header's chunk is the first; only a reduced file has the feature.
  const Header header = format::parse_header(format::View(chunks.at(0)).subspan(format::frame_bytes));
  std::vector<std::byte> file = format::file_start(header.reduction.empty() ? 0 : format::feature_reduced);
  for (const auto& chunk : chunks) file.insert(file.end(), chunk.begin(), chunk.end());
  return file;
}

}  // namespace effort::record::trace::test
