// Files that nodes share.
#include "runtime/trace/trace_file.hpp"
#include "analytics/comm/thread_group.hpp"
#include "record/trace/reader.hpp"

#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <set>
#include <string>

#include <unistd.h>

using namespace effort;
using engine::TraceFile;
namespace format = record::trace;

namespace {

std::filesystem::path fresh_directory(const std::string& name) {
  const auto path =
      std::filesystem::temp_directory_path() / ("effort-trace-file-" + name + "-" + std::to_string(getpid()));
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

/// Every node appends a window and several times of its clock, which identify its chunks, in each of three rounds.
void write_files(const std::filesystem::path& directory, int n_nodes, int most) {
  run_thread_group(n_nodes, [&](Communicator& nodes) {
    TraceFile file(nodes, most);
    format::Header h;
    h.n_ranks = 2 * n_nodes;
    h.n_nodes = n_nodes;
    h.confidence = 0.9;
    h.error = 0.08;
    h.nodes = {{nodes.rank(), {2 * nodes.rank(), 2 * nodes.rank() + 1}}};
    file.open(directory, h);
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i <= nodes.rank() % 3; ++i)
        file.append(format::Clock{nodes.rank(), 10 * round + i, 0, 1});
      file.flush();
    }
  });
}

}  // namespace

TEST_CASE(
    "nodes share the largest allowed number of files, and every file has the chunks of its nodes in their order") {
  for (const auto& [n_nodes, most, expected] : {std::tuple{7, 3, 3}, {5, 5, 5}, {6, 2, 2}, {5, 1, 1}, {9, 4, 3}}) {
    const auto directory = fresh_directory("shared");
    write_files(directory, n_nodes, most);
    int files = 0;
    std::set<std::int32_t> nodes;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      ++files;
      const format::Reader file(entry.path());
      CHECK(file.problems().empty());
      std::size_t clocks = 0;
      for (const auto& node : file.header().nodes) {
        CHECK(nodes.insert(node.node).second);
        CHECK(node.ranks == std::vector<std::int32_t>{2 * node.node, 2 * node.node + 1});
        std::int64_t before = -1;
        for (const format::Clock& clock : file.clocks()) {
          if (clock.node != node.node) continue;
          ++clocks;
          CHECK(clock.time_ns > before);
          before = clock.time_ns;
        }
      }
      CHECK(clocks == file.clocks().size());
      std::size_t written = 0;
      for (const auto& node : file.header().nodes) written += 3 * (static_cast<std::size_t>(node.node) % 3 + 1);
      CHECK(clocks == written);
    }
    CHECK(files == expected);
    CHECK(nodes.size() == static_cast<std::size_t>(n_nodes));
    std::filesystem::remove_all(directory);
  }
}

TEST_CASE("a file that cannot be created loses the chunks of its nodes, and no node waits") {
  const auto directory = fresh_directory("refused");
  std::filesystem::create_directories(directory / format::file_name(0));  // a directory stands in the way
  std::vector<std::string> errors(4);
  std::vector<int> good(4);
  run_thread_group(4, [&](Communicator& nodes) {
    TraceFile file(nodes, 2);
    format::Header h;
    h.n_ranks = h.n_nodes = 4;
    h.confidence = 0.9;
    h.error = 0.08;
    h.nodes = {{nodes.rank(), {nodes.rank()}}};
    try {
      file.open(directory, h);
    } catch (const std::exception& e) {
      errors[static_cast<std::size_t>(nodes.rank())] = e.what();
    }
    file.append(format::Clock{nodes.rank(), 0, 0, 1});
    file.flush();
    good[static_cast<std::size_t>(nodes.rank())] = file.good();
  });
  CHECK(good == std::vector<int>{0, 1, 1, 1});
  CHECK(!errors[0].empty());
  CHECK((errors[1].empty() && errors[2].empty() && errors[3].empty()));
  CHECK(format::Reader(directory / format::file_name(2)).clocks().size() == 2);
  std::filesystem::remove_all(directory);
}
