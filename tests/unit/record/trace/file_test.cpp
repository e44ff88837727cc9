#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/generators/catch_generators.hpp>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>

#include "compare.hpp"
#include "record/reader.hpp"
#include "record/trace/format.hpp"
#include "record/trace/writer.hpp"

namespace {

namespace fs = std::filesystem;
using namespace effort::record::trace;
using namespace effort::record::trace::test;
using effort::record::FormatError;

struct Directory {
  fs::path path = fs::temp_directory_path() / ("effort-trace-" + std::to_string(::getpid()));
  Directory() { fs::remove_all(path); }
  ~Directory() { fs::remove_all(path); }
};

}  // namespace

TEST_CASE("a trace file is read as it was written") {
  const Directory directory;
  const fs::path path = directory.path / "deep" / file_name(3);
  CHECK(path.filename() == "node-00003.trc");
  const Sample s = sample(effort::trace::n_kinds, GENERATE(false, true));
  const auto chunks = encoded(s);
  {
    Writer writer(path, s.header);
    for (std::size_t i = 1; i < chunks.size(); ++i) writer.append(chunks[i]);
    CHECK(writer.size() == fs::file_size(path));
    struct stat st {};
    REQUIRE(::stat(path.c_str(), &st) == 0);
    CHECK((st.st_mode & 0777) == 0600);
    CHECK_THROWS_AS(Writer(path, s.header), fs::filesystem_error);
  }
  const Reader reader(path);
  check_sample(reader, s);
  CHECK(reader.size() == file_of(chunks).size());
  check_sample(Reader(file_of(chunks), "memory"), s);
}

TEST_CASE("appended chunks survive kill -9") {
  const Directory directory;
  const fs::path path = directory.path / "killed.trc";
  const Sample s = sample();
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    Writer writer(path, s.header);
    const auto chunks = encoded(s);
    for (std::size_t i = 1; i < chunks.size(); ++i) writer.append(chunks[i]);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  check_sample(Reader(path), s);
}

TEST_CASE("a full disk leaves a readable file, and writing goes on when there is room") {
  const Directory directory;
  const fs::path path = directory.path / "full.trc";
  const Sample s = sample();
  const auto chunks = encoded(s);
  Writer writer(path, s.header);
  rlimit old{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old) == 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{writer.size() + 10, old.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &tight) == 0);
  CHECK_THROWS_AS(writer.append(chunks[1]), fs::filesystem_error);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &old) == 0);
  ::signal(SIGXFSZ, handler);
  CHECK(Reader(path).problems().empty());
  for (std::size_t i = 1; i < chunks.size(); ++i) writer.append(chunks[i]);
  check_sample(Reader(path), s);
}

TEST_CASE("a file that the host opens under the descriptor of a trace file that it has closed is left alone") {
  const Directory directory;
  const fs::path path = directory.path / file_name(0), other = directory.path / "host";
  const Sample s = sample();
  const auto chunks = encoded(s);
  int host = -1;
  {
    Writer writer(path, s.header);
    for (int d = 3; d < 64; ++d) ::close(d);
    do host = ::open(other.c_str(), O_RDWR | O_CREAT, 0600);
    while (host < 63);
    CHECK_THROWS_AS(writer.append(chunks[1]), fs::filesystem_error);
  }
  CHECK(::fcntl(host, F_GETFD) >= 0);
  CHECK(fs::file_size(other) == 0);
  CHECK(fs::file_size(path) > 0);
  for (int d = 3; d < 64; ++d) {
    CHECK(::fcntl(d, F_GETFD) >= 0);
    ::close(d);
  }
}

TEST_CASE("a file that is cut anywhere reads up to the last complete chunk") {
  const Sample s = sample(effort::trace::n_kinds, GENERATE(false, true));
  const auto chunks = encoded(s);
  const std::vector<std::byte> whole = file_of(chunks);
  std::set<std::size_t> ends{whole.size()};
  std::size_t at = format::header_bytes;
  for (const auto& chunk : chunks) ends.insert(at), at += chunk.size();
  const std::size_t described = format::header_bytes + chunks[0].size();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    if (size < described) {
      CHECK_THROWS_AS(Reader(cut, "cut"), FormatError);
      continue;
    }
    const Reader reader(cut, "cut");
    CHECK(reader.problems().size() == (ends.contains(size) ? 0u : 1u));
    for (std::size_t i = 0; i < reader.chunks().size(); ++i) check_events(reader, i, s.chunks[i]);
  }
}

TEST_CASE("a changed byte costs one chunk and those that need it") {
  const Sample s = sample(effort::trace::n_kinds, GENERATE(false, true));
  const auto chunks = encoded(s);
  const std::vector<std::byte> whole = file_of(chunks);
  const std::size_t described = format::header_bytes + chunks[0].size();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::vector<std::byte> changed = whole;
    changed[i] ^= std::byte{0x41};
    if (i < described && (i < 10 || i >= 12)) {  // the minor version is free, but the checksum is not
      CHECK_THROWS_AS(Reader(changed, "changed"), FormatError);
      continue;
    }
    if (i < described) continue;
    const Reader reader(changed, "changed");
    REQUIRE(reader.problems().size() == 1);
    CHECK(reader.problems()[0].offset <= i);
    CHECK(reader.problems()[0].text.find("changed, offset") == 0);
    std::size_t found = reader.windows().size() + reader.chunks().size() + reader.clocks().size();
    found += reader.names().regions.empty() ? 0 : 1;
    CHECK(found + 1 >= s.windows.size() + s.chunks.size() + 2);
    for (const EventsInfo& info : reader.chunks()) {
      try {
        const std::vector<Event> events = reader.rebuilt(info).events;
        CHECK(events.size() == info.events);
      } catch (const FormatError& e) {
        CHECK(e.offset() == info.offset);
      }
    }
  }
}

TEST_CASE("damage between chunks, and zeros at the end, are skipped") {
  const Sample s = sample(effort::trace::n_kinds, GENERATE(false, true));
  auto chunks = encoded(s);
  chunks.insert(chunks.begin() + 5, std::vector<std::byte>(100'000, std::byte{'W'}));
  chunks.emplace_back(5000, std::byte{0});
  const Reader reader(file_of(chunks), "mixed");
  CHECK(reader.problems().size() == 2);
  REQUIRE(reader.chunks().size() == s.chunks.size());
  for (std::size_t i = 0; i < s.chunks.size(); ++i) check_events(reader, i, s.chunks[i]);
}

TEST_CASE("newer files and other files are refused") {
  const Sample s = sample();
  std::vector<std::byte> newer = format::file_start();
  newer[8] = std::byte{2};
  newer.resize(16);
  const std::uint64_t hash = effort::record::format::hash(newer);
  effort::record::format::put(newer, hash);
  try {
    Reader(newer, "newer");
    FAIL("was read");
  } catch (const FormatError& e) {
    CHECK(std::string(e.what()).find("version 2") != std::string::npos);
  }
  auto features = file_of(encoded(sample(effort::trace::n_kinds, true)));
  CHECK(features[12] == std::byte{3});
  features[12] = std::byte{7};
  const std::uint64_t of_start = effort::record::format::hash(format::View(features).first(16));
  for (std::size_t i = 0; i < 8; ++i) features[16 + i] = static_cast<std::byte>(of_start >> (8 * i));
  try {
    Reader(features, "features");
    FAIL("was read");
  } catch (const FormatError& e) {
    CHECK(std::string(e.what()).find("features") != std::string::npos);
  }
  CHECK_THROWS_AS(Reader(std::vector<std::byte>(1000), "zeros"), FormatError);
  CHECK_THROWS_AS(Reader({}, "empty"), FormatError);
  // An unknown chunk and a longer payload come from a later minor version.
  auto chunks = encoded(s);
  chunks.insert(chunks.begin() + 2, format::framed(effort::record::format::four("NEWS"), chunks[1]));
  check_sample(Reader(file_of(chunks), "minor"), s);
}

TEST_CASE("inconsistent contents are not written") {
  Sample s = sample();
  s.header.nodes[1].node = 0;
  CHECK_THROWS_AS(encode(s.header), std::invalid_argument);
  s = sample();
  s.header.started_unix_ns = INT64_MAX;
  CHECK_THROWS_AS(encode(s.header), std::invalid_argument);
  s.windows[0].ranks[0].stratum = 7;
  CHECK_THROWS_AS(encode(s.windows[0]), std::invalid_argument);
  s.windows[1].last_step = s.windows[1].first_step - 1;
  CHECK_THROWS_AS(encode(s.windows[1]), std::invalid_argument);
  s.windows[2].ranks[0].probability = 2;
  CHECK_THROWS_AS(encode(s.windows[2]), std::invalid_argument);
  for (const auto& wrong : std::vector<std::vector<Window::RegionSum>>{
           {{1, -1, 0}}, {{2, 5, 1}, {2, 5, 1}}, {{2, 5, 1}, {1, 5, 1}}, {{1, 0, INT64_MAX}}}) {
    s.windows[3].region_sums = wrong;
    CHECK_THROWS_AS(encode(s.windows[3]), std::invalid_argument);
  }
}

TEST_CASE("reasons have names") {
  CHECK(std::string(reason_text(0)) == "sample");
  CHECK(std::string(reason_text(8)) == "partner");
  CHECK(std::string(reason_text(9)) == "snapshot");
  CHECK(std::string(reason_text(10)) == "lost");
  CHECK(std::string(reason_text(11)) == "unknown");
}

TEST_CASE("hidden names are hashes that are the same in every run, and MPI's calls stay recognisable") {
  CHECK(hidden_name("solve") == hidden_name("solve"));
  CHECK(hidden_name("solve") != hidden_name("solver"));
  CHECK(hidden_name("solve").size() == 17);
  CHECK(hidden_name("solve")[0] == '#');
  CHECK(hidden_name("MPI_Allreduce") == "MPI_Allreduce");
  const std::string call = hidden_name("MPI_Send secret.so+0x123 app+0x5");
  CHECK(call.starts_with("MPI_Send #"));
  CHECK(call.find("secret") == std::string::npos);
  CHECK(hidden_name("").empty());
}
