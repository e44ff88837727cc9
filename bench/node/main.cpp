// Compares the cost of publishing a finished 1 KiB frame with a plain copy and a release store, and measures a whole
// progress step.
// usage: bench_node [rounds]
#include "record/reader.hpp"
#include "runtime/measure/clock.hpp"
#include "runtime/node/ring.hpp"

#include <effort/effort.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

using effort::measure::monotonic_ns;
using effort::node::Ring;
using effort::node::RingControl;

namespace {

constexpr std::size_t frame_bytes = 1024, capacity = std::size_t{1} << 18;
constexpr int frames = 200;  // a chunk: 200 KiB, less than the ring

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

void publishing(int rounds) {
  auto control = std::make_unique<RingControl>();
  std::vector<std::byte> bytes(capacity), bare(capacity), frame(frame_bytes), sink;
  sink.reserve(capacity);
  Ring ring(*control, bytes.data(), capacity);
  std::atomic<std::uint64_t> written{0};
  std::vector<double> ratio, push, copy;
  std::uint64_t at = 0;
  for (int r = 0; r < rounds; ++r) {
    std::uint64_t start = monotonic_ns();
    for (int i = 0; i < frames; ++i) {
      std::memcpy(bare.data() + (at & (capacity - 1)), frame.data(), frame_bytes);
      written.store(at += frame_bytes, std::memory_order_release);
    }
    const double c = static_cast<double>(monotonic_ns() - start) / frames;
    start = monotonic_ns();
    for (int i = 0; i < frames; ++i) ring.push(frame);
    const double p = static_cast<double>(monotonic_ns() - start) / frames;
    sink.clear();
    ring.drain(sink);
    if (r < rounds / 20) continue;
    copy.push_back(c);
    push.push_back(p);
    ratio.push_back(p / c);
  }
  std::printf("publish a 1 KiB frame        %8.1f ns  copy + store %6.1f ns  ratio %5.2f  (target 1.50)\n",
              median(push), median(copy), median(ratio));
}

// The number of merged steps so far: a merged step publishes nothing and costs next to nothing.
std::int64_t merged_steps() {
  const auto file =
      std::filesystem::temp_directory_path() / ("bench_node-" + std::to_string(monotonic_ns()) + ".effort");
  if (effort_snapshot(file.c_str()) != EFFORT_OK) return -1;
  const std::int64_t merged = effort::record::Reader(file).run().merged_steps;
  std::filesystem::remove(file);
  return merged;
}

// A step with the entries of a 1 KiB frame (61 regions touched), far from any hint.
void stepping(int rounds) {
  effort_config* cfg = nullptr;
  effort_config_new(&cfg);
  effort_config_set(cfg, "WINDOW", "100000");
  effort_config_set(cfg, "HINT_LAG", "100000");
  effort_init(cfg);
  std::vector<effort_region_id> ids(61);
  for (std::size_t i = 0; i < ids.size(); ++i)
    effort_region(("region " + std::to_string(i)).c_str(), EFFORT_COMPUTE, &ids[i]);
  std::vector<double> steps, clocks;
  for (int r = 0; r < rounds; ++r) {
    for (auto id : ids) {
      effort_begin(id);
      effort_end(id);
    }
    // Leaves the background thread time between steps, because a full ring would merge them.
    for (const std::uint64_t start = monotonic_ns(); monotonic_ns() - start < 20'000;) {
    }
    const std::uint64_t a = monotonic_ns();
    effort_progress_step();
    const std::uint64_t b = monotonic_ns();
    const std::uint64_t c = monotonic_ns();
    if (r < rounds / 20) continue;
    steps.push_back(static_cast<double>(b - a));
    clocks.push_back(static_cast<double>(c - b));
  }
  std::printf("progress step, 61 regions    %8.1f ns  of which the clock reading around it %.1f ns  (target 1000)\n",
              median(steps), median(clocks));
  const std::int64_t merged = merged_steps();
  if (merged != 0)
    std::printf(
        "  %lld of %d steps were merged, their cost is in the median: the background thread had no processor; run it "
        "on an idle machine\n",
        static_cast<long long>(merged), rounds);
  effort_finalize();
  effort_config_free(cfg);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 2000;
  setenv("EFFORT_SNAPSHOT_DIR", "/tmp", 0);
  publishing(rounds);
  stepping(rounds);
}
