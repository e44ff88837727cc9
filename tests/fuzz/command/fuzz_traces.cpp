// Gives traces of a broken or hostile writer to every command that reads them, which must answer or refuse them.
//
// The first byte chooses whether OTF2 and the report are written too, the others how the trace is damaged: see
// recipe.hpp.
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "place.hpp"
#include "recipe.hpp"
#include "record/trace/format.hpp"
#include "sample.hpp"
#include "tools/report/report_trace.hpp"
#include "tools/trace/input/read.hpp"

namespace {

namespace format = effort::record::trace::format;
using effort::tools::test::TraceChunk;

std::vector<TraceChunk> sample_chunks() {
  const effort::record::trace::test::Sample sample = effort::record::trace::test::sample();
  std::vector<TraceChunk> out;
  for (const std::vector<std::byte>& chunk : effort::record::trace::test::encoded(sample))
    out.push_back({format::get_frame(chunk)->type,
                   {chunk.begin() + static_cast<std::ptrdiff_t>(format::frame_bytes), chunk.end()}});
  return out;
}

/// The parts of a trace that `effort report` takes, with little and with ample room.
void make_page(const std::string& path) {
  using namespace effort::tools;
  try {
    const Trace trace = read_trace(path);
    const TraceMessages messages = match_messages(trace);
    const CallEstimates calls = estimate_calls(trace);
    for (const std::size_t bytes : {std::size_t{100}, std::size_t{20'000'000}})
      (void)trace_for_page({trace, messages, calls}, bytes);
  } catch (const std::runtime_error&) {
  }
}

struct Setting {
  Setting() {
    effort::tools::test::be_quiet();
    std::filesystem::create_directory(trace());
  }
  std::string path(const char* name) const { return place.path / name; }
  std::string trace() const { return path("golden-1.trace"); }
  effort::tools::test::Place place;
  std::vector<TraceChunk> chunks = sample_chunks();
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Setting setting;
  if (size == 0) return 0;
  std::vector<TraceChunk> chunks = setting.chunks;
  effort::tools::test::apply({data + 1, size - 1}, chunks);
  std::vector<std::byte> file = format::file_start();
  for (const TraceChunk& chunk : chunks) {
    const std::vector<std::byte> bytes = format::framed(chunk.type, chunk.payload);
    file.insert(file.end(), bytes.begin(), bytes.end());
  }
  const std::string trace = setting.trace();
  effort::tools::test::write(trace + "/node-00000.trc", file);
  using effort::tools::test::run_on_damage;
  run_on_damage({"trace", "info", trace, "--all"});
  run_on_damage({"trace", "info", trace, "--json"});
  run_on_damage({"trace", "export", trace, "--format", "csv", "-o", setting.path("out.csv")});
  run_on_damage({"trace", "export", trace, "--format", "perfetto", "-o", setting.path("out.pftrace")});
  for (const char* const analysis : {"waits", "pairs", "matrix"}) {
    run_on_damage({"comm", analysis, trace, "--all"});
    run_on_damage({"comm", analysis, trace, "--json"});
  }
  for (const char* const analysis : {"patterns", "phases"}) {
    run_on_damage({"comm", analysis, trace, "--all"});
    run_on_damage({"comm", analysis, trace, "--symbols", "absolute", "--json"});
  }
  run_on_damage({"comm", "pairs", trace, "--pair", "0,1"});
  run_on_damage({"comm", "diff", trace, trace, "--all"});
  run_on_damage({"trace", "reduce", trace});
  run_on_damage({"trace", "reduce", trace, "--method", "avgWave", "--json"});
  if (data[0] % 4 != 0) return 0;
  if (effort::tools::otf2_available()) {
    run_on_damage({"trace", "export", trace, "--format", "otf2", "-o", setting.path("archive")});
    run_on_damage({"trace", "info", setting.path("archive"), "--json"});
  }
  make_page(trace);
  return 0;
}
