// Helpers of the tests of exports.
#pragma once

#include <catch2/catch_test_macros.hpp>

#include <regex>
#include <string>
#include <vector>

#include "../../command.hpp"
#include "../traces.hpp"
#include "tools/files/inputs.hpp"
#include "tools/trace/analysis/messages.hpp"
#include "tools/trace/export/export.hpp"

namespace effort::tools::test {

/// Where an export writes to.  Each is a command of its own.
inline std::filesystem::path to(const Scratch& scratch, const std::string& name) {
  forget_inputs();
  return scratch / name;
}

inline std::size_t count(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) ++n;
  return n;
}

/// Events by the names they refer to, because indices change.
inline std::vector<std::string> described(const Trace& trace, const TraceThread& thread) {
  std::vector<std::string> out;
  for (const TraceEvent& e : thread.events) {
    std::string name;
    if (e.kind == effort::trace::Kind::enter || e.kind == effort::trace::Kind::leave) name = trace.regions[e.id].name;
    if (e.kind == effort::trace::Kind::phase) name = trace.phases[e.id];
    if (e.kind == effort::trace::Kind::work) name = trace.units[e.id];
    // OTF2 does not hold the source and tag that a receive was posted with.
    const bool posted = e.kind == effort::trace::Kind::receive_start;
    out.push_back(std::to_string(e.time_ns) + " " + std::string(effort::trace::kind_text(e.kind)) + " " + name + " " +
                  std::to_string(posted ? -1 : e.peer) + " " + std::to_string(posted ? -1 : e.tag) + " " +
                  std::to_string(e.bytes) + " " + std::to_string(e.received_bytes));
  }
  return out;
}

inline Trace round_trip(const Scratch& scratch, const Trace& trace, const std::string& name) {
  export_trace_otf2(trace, match_messages(trace), to(scratch, name));
  return read_trace((scratch / name).string());
}

/// Perfetto's protobuf as text.
inline std::string decoded(const Scratch& scratch, const std::string& name) {
  const Outcome out = scratch.run_program(
      "sh", {"-c", "protoc --proto_path=" EFFORT_TEST_TRACES " --decode=Trace export/perfetto.proto <" + name});
  INFO(out.err);
  if (out.code == 127) SKIP("protoc is not installed (protobuf-compiler)");
  CHECK(out.code == 0);
  // A field that the description does not know would be shown by its number.
  CHECK_FALSE(std::regex_search(out.out, std::regex("\\n *[0-9]+[:{ ]")));
  return out.out;
}

/// The output of python3-otf2 for `archive`, with the names of its events in `names`; skips the test without it.
/// @param prints  lines of Python, indented by four
inline std::string read_by_python(const Scratch& scratch, const std::string& prints) {
  scratch.write_text("read.py", R"(
import sys
try:
    import otf2
except ImportError:
    sys.exit(77)
with otf2.reader.open('archive/traces.otf2') as trace:
    names = [type(event).__name__ for location, event in trace.events]
)" + prints);
  const Outcome python = scratch.run_python("read.py", {});
  if (python.code == 77) SKIP("python3-otf2 is not installed");
  INFO(python.err);
  CHECK(python.code == 0);
  return python.out;
}

}  // namespace effort::tools::test
