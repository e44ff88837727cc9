// Damages OTF2 archives, which must be read or refused.
//
// The first byte chooses what is damaged: 0, the property in which effort keeps the sampling of ranks, which only
// effort reads; 1, the files of the archive, which OTF2's library reads.  A crash inside that library is not ours, and
// passes. The other bytes are changes, five each.
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "place.hpp"
#include "record/trace/format.hpp"
#include "sample.hpp"
#include "tools/report/report_trace.hpp"
#include "tools/trace/info/info.hpp"
#include "tools/trace/input/read.hpp"
#include "tools/trace/input/trace_notes.hpp"
#include "tools/trace/otf2/sampling_json.hpp"

namespace {

using namespace effort::tools;
using nlohmann::json;
namespace fs = std::filesystem;

/// An archive that effort has written, its property, and the trace that is read from it.
struct Setting {
  Setting() {
    test::be_quiet();
    const fs::path trace = place.path / "golden-1.trace";
    fs::create_directory(trace);
    std::vector<std::byte> bytes = effort::record::trace::format::file_start();
    for (const auto& chunk : effort::record::trace::test::encoded(effort::record::trace::test::sample()))
      bytes.insert(bytes.end(), chunk.begin(), chunk.end());
    test::write(trace / "node-00000.trc", bytes);
    if (test::run({"trace", "export", trace, "--format", "otf2", "-o", archive()}) != 0) std::abort();
    for (const auto& entry : fs::recursive_directory_iterator(archive())) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      files[entry.path()] = {std::istreambuf_iterator<char>(in), {}};
    }
    good = read_trace(archive());
    sampling = sampling_json(good);
  }
  std::string archive() const { return place.path / "archive"; }

  test::Place place;
  std::map<fs::path, std::string> files;
  Trace good;
  json sampling;
};

struct Change {
  std::uint8_t what, low, high, where, value;
  std::size_t place() const { return low + 256u * high; }
};

std::vector<Change> changes_of(std::span<const std::uint8_t> bytes) {
  std::vector<Change> out;
  for (; bytes.size() >= 5; bytes = bytes.subspan(5)) out.push_back({bytes[0], bytes[1], bytes[2], bytes[3], bytes[4]});
  return out;
}

/// All values in a JSON text, the containers included.
void values_in(json& value, std::vector<json*>& out) {
  out.push_back(&value);
  if (value.is_structured())
    for (json& part : value) values_in(part, out);
}

void change(json& sampling, const Change& c) {
  static const std::vector<json> odd{
      -1,  0,    1,          2,    3,       1000000, 2147483647, INT64_MAX,     INT64_MIN,     1e308,
      0.5, -0.5, UINT64_MAX, true, nullptr, "",      "auto",     json::array(), json::object()};
  std::vector<json*> values;
  values_in(sampling, values);
  json& value = *values[c.place() % values.size()];
  if (c.what % 4 == 0 && value.is_array() && !value.empty())
    value.erase(c.where % value.size());
  else if (c.what % 4 == 1 && value.is_array() && !value.empty())
    value.push_back(value[c.where % value.size()]);
  else
    value = odd[c.value % odd.size()];
}

/// What the command does with a trace.
void use(const Trace& trace) {
  const TraceMessages messages = match_messages(trace);
  const CallEstimates calls = estimate_calls(trace);
  const TraceFindings findings{trace, messages, calls};
  (void)trace_info_json(findings).dump(-1, ' ', false, json::error_handler_t::replace);
  (void)trace_info_text(findings, true, {});
  (void)trace_for_page(findings, 20'000'000);
}

void damage_sampling(const Setting& setting, const std::vector<Change>& changes) {
  json sampling = setting.sampling;
  for (const Change& c : changes) change(sampling, c);
  Trace trace = setting.good;
  try {
    sampling_from_json(sampling, trace);
  } catch (const std::exception&) {
    return;  // the trace is then read without it
  }
  note_rebuilt(trace);
  try {
    use(trace);
  } catch (const std::runtime_error&) {
  }
}

// ---- archives, in a child process

enum Ending { in_otf2 = 60, in_effort = 61 };

/// Whose code has crashed: the innermost function that does not belong to the C library.
void say_whose(int) {
  void* frames[64];
  const int n = backtrace(frames, 64);
  for (int i = 1; i < n; ++i) {  // the first is this one
    Dl_info object{};
    if (dladdr(frames[i], &object) == 0 || !object.dli_fname) continue;
    const std::string_view name = object.dli_fname;
    if (name.find("/libc.so") != name.npos || name.find("vdso") != name.npos) continue;
    _exit(name.find("libotf2") != name.npos ? in_otf2 : in_effort);
  }
  _exit(in_effort);
}

[[noreturn]] void read_in_child(const std::string& archive) {
  const rlimit cpu{10, 10}, core{0, 0};
  setrlimit(RLIMIT_CPU, &cpu);
  setrlimit(RLIMIT_CORE, &core);
  void* warm[1];
  backtrace(warm, 1);  // loads what it needs
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU}) std::signal(number, say_whose);
  _exit(test::run({"trace", "info", archive, "--json"}));
}

void damage_archive(const Setting& setting, const std::vector<Change>& changes) {
  std::map<fs::path, std::string> files = setting.files;
  for (const Change& c : changes) {
    std::string& file = std::next(files.begin(), static_cast<std::ptrdiff_t>(c.where % files.size()))->second;
    if (file.empty()) continue;
    const std::size_t at = c.place() % file.size();
    if (c.what % 8 == 0)
      file.resize(at);
    else if (c.what % 8 == 1)
      file.insert(at, 1, static_cast<char>(c.value));
    else
      file[at] = static_cast<char>(c.value);
  }
  for (const auto& [path, bytes] : files) test::write(path, std::as_bytes(std::span(bytes)));
  const pid_t child = fork();
  if (child == 0) read_in_child(setting.archive());
  if (child < 0) std::abort();
  int status = 0;
  while (waitpid(child, &status, 0) != child)
    if (errno != EINTR) std::abort();  // libFuzzer's alarm interrupts it
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code != 0 && code != 1 && code != in_otf2) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Setting setting;
  if (size == 0) return 0;
  const std::vector<Change> changes = changes_of({data + 1, size - 1});
  data[0] % 2 == 0 ? damage_sampling(setting, changes) : damage_archive(setting, changes);
  return 0;
}
