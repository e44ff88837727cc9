// Compares a trace with the program's own list of events (expected_events.h).
//   check_trace DIRECTORY THREADS   the run's folder, and how many threads of each rank made a list
// For every list, one of the rank's threads must have exactly these messages and collectives, in this order, each start
// within its call and each completion at the end of one.  Communicators must have one id on all ranks, and every
// message that was sent its receive.
#include "failures.hpp"
#include "record/trace/reader.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace trace = effort::record::trace;
using effort::test::bad;
using effort::test::fail;
using trace::Event;
using trace::Kind;

namespace {

constexpr int first_mark = 7771, last_mark = 7772;

bool is_message(Kind kind) { return (kind >= Kind::send && kind <= Kind::collective) || kind == Kind::one_sided; }
bool has_communicator(Kind kind) { return kind != Kind::send_done && kind != Kind::request_cancelled; }

struct Expected {
  std::string kind, communicator;
  int peer = 0, tag = 0;
  unsigned long bytes = 0, received = 0;
  int request = 0;
};

std::vector<Expected> read_list(const std::filesystem::path& file) {
  std::vector<Expected> out;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    Expected e;
    std::getline(words, e.kind, ' ');
    std::getline(words, e.communicator, ' ');
    words >> e.peer >> e.tag >> e.bytes >> e.received >> e.request;
    out.push_back(e);
  }
  return out;
}

using Thread = std::pair<int, int>;  // rank, thread

struct Run {
  std::map<Thread, std::vector<Event>> events;
  std::map<std::uint32_t, trace::Names::Communicator> communicators;
};

Run read_run(const std::filesystem::path& directory) {
  Run run;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.path().extension() != ".trc") continue;
    const trace::Reader reader(entry.path());
    if (!reader.problems().empty()) fail("%s is damaged", entry.path().c_str());
    for (const auto& c : reader.names().communicators) {
      const auto [known, fresh] = run.communicators.try_emplace(c.id, c);
      if (!fresh && (known->second.name != c.name || known->second.members != c.members))
        fail("communicator %u is '%s' on one node and '%s' on another", c.id, known->second.name.c_str(),
             c.name.c_str());
    }
    for (const auto& chunk : reader.chunks()) {
      const std::vector<Event> events = reader.rebuilt(chunk).events;
      auto& all = run.events[{chunk.rank, chunk.thread}];
      all.insert(all.end(), events.begin(), events.end());
    }
  }
  return run;
}

/// Each start must have the time of an enter before it, with nothing but starts in between; each completion that of a
/// leave.
void check_places(const Thread& thread, const std::vector<Event>& events) {
  const Event* last = nullptr;
  for (const Event& e : events) {
    if (!is_message(e.kind)) {
      last = &e;
      continue;
    }
    const bool starts = e.kind == Kind::send || e.kind == Kind::send_start || e.kind == Kind::receive_start ||
                        e.kind == Kind::collective || e.kind == Kind::one_sided;
    if (!last || last->kind != (starts ? Kind::enter : Kind::leave) || last->time_ns != e.time_ns)
      fail("rank %d: %s with tag %d is not at the %s of a call", thread.first,
           std::string(effort::trace::kind_text(e.kind)).c_str(), e.tag, starts ? "beginning" : "end");
  }
}

/// The messages between marks.  A new thread may continue the events of one that has ended.
std::vector<std::vector<Event>> between_marks(const std::vector<Event>& events) {
  std::vector<std::vector<Event>> out;
  bool inside = false;
  for (const Event& e : events) {
    if (!is_message(e.kind)) continue;
    if (e.kind == Kind::send && e.tag == first_mark) {
      inside = true;
      out.emplace_back();
    }
    if (inside) out.back().push_back(e);
    if (e.kind == Kind::receive && e.tag == last_mark) inside = false;
  }
  return out;
}

/// The meanings of names so far: the same in all lists of a rank, or of all ranks.
struct Meanings {
  std::map<std::string, std::uint32_t> communicators;
  std::map<std::pair<int, int>, std::uint32_t> requests;  ///< by rank and number in the list
};

bool equal(const Expected& x, const Event& e, int rank, Meanings& meanings) {
  if (x.kind != effort::trace::kind_text(e.kind)) return false;
  if (has_communicator(e.kind)) {
    if (x.peer != e.peer || x.bytes != e.bytes || x.received != e.received_bytes) return false;
    if (e.kind != Kind::collective && e.kind != Kind::one_sided && x.tag != e.tag) return false;
    const auto [known, fresh] = meanings.communicators.try_emplace(x.communicator, e.id);
    if (!fresh && known->second != e.id) return false;
  }
  if (x.request == 0) return true;
  const auto [known, fresh] = meanings.requests.try_emplace({rank, x.request}, e.request);
  return fresh || known->second == e.request;
}

std::size_t agree(const std::vector<Expected>& list, const std::vector<Event>& events, int rank, Meanings& meanings) {
  std::size_t i = 0;
  while (i < list.size() && i < events.size() && equal(list[i], events[i], rank, meanings)) ++i;
  return i;
}

std::string text(const Event& e) {
  std::ostringstream out;
  out << effort::trace::kind_text(e.kind) << " id " << e.id << " peer " << e.peer << " tag " << e.tag << " bytes "
      << e.bytes << " received " << e.received_bytes << " request " << e.request;
  return out.str();
}

void check_list(const Run& run, const std::filesystem::path& file, int rank, Meanings& meanings) {
  const std::vector<Expected> list = read_list(file);
  std::size_t best = 0;
  std::string why = "no thread of the rank has the marks";
  for (const auto& [thread, all] : run.events) {
    if (thread.first != rank) continue;
    for (const std::vector<Event>& events : between_marks(all)) {
      Meanings tried = meanings;
      const std::size_t n = agree(list, events, rank, tried);
      if (n == list.size() && n == events.size()) {
        meanings = tried;
        return;
      }
      if (n < best) continue;
      best = n;
      why = "event " + std::to_string(n) + " should be '" +
            (n < list.size() ? list[n].kind + " " + list[n].communicator : "none") + "', but is '" +
            (n < events.size() ? text(events[n]) : "none") + "'";
    }
  }
  fail("%s: %s", file.filename().c_str(), why.c_str());
}

/// Every message that one of the ranks sent to another was received there, with as many bytes, in the same order.
void check_pairs(const Run& run) {
  std::map<std::tuple<std::uint32_t, int, int, int>, std::vector<std::uint64_t>> sent, received;
  for (const auto& [thread, all] : run.events)
    for (const auto& list : between_marks(all))
      for (const Event& e : list) {
        if (e.kind == Kind::send || e.kind == Kind::send_start)
          sent[{e.id, thread.first, e.peer, e.tag}].push_back(e.bytes);
        if (e.kind == Kind::receive || e.kind == Kind::receive_done)
          received[{e.id, e.peer, thread.first, e.tag}].push_back(e.bytes);
      }
  for (const auto& [pair, messages] : sent) {
    const auto& [id, from, to, tag] = pair;
    if (tag >= 300 && tag <= 302) continue;  // too long for their receives, or these are not seen, or freed
    if (tag >= 310 && tag <= 312 && received[pair].size() == messages.size()) continue;  // too long
    if (tag >= 600 && tag <= 602 && received[pair].size() == messages.size()) continue;  // see traced_mpi4.c
    if (received[pair] != messages)
      fail("%zu messages from %d to %d with tag %d, but %zu receives or other sizes", messages.size(), from, to, tag,
           received[pair].size());
  }
  for (const auto& [pair, messages] : received)
    if (sent.count(pair) == 0) fail("a receive of tag %d has no send", std::get<3>(pair));
}

void check_communicators(const Run& run, const Meanings& meanings) {
  std::map<std::uint32_t, std::string> names;
  for (const auto& [name, id] : meanings.communicators) {
    if (const auto [known, fresh] = names.try_emplace(id, name); !fresh)
      fail("'%s' and '%s' have the same id", name.c_str(), known->second.c_str());
    if (run.communicators.count(id) == 0) fail("'%s' is not described", name.c_str());
  }
  const auto world = meanings.communicators.find("world");
  if (world != meanings.communicators.end() && run.communicators.at(world->second).name != "MPI_COMM_WORLD")
    fail("%s", "MPI_COMM_WORLD has another name");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const Run run = read_run(argv[1]);
  const int threads = std::atoi(argv[2]);
  int ranks = 0, lists = 0;
  for (const auto& [thread, events] : run.events) {
    ranks = std::max(ranks, thread.first + 1);
    check_places(thread, events);
  }
  Meanings meanings;
  for (int r = 0; r < ranks; ++r)
    for (int t = 0; t < threads; ++t, ++lists)
      check_list(run,
                 std::filesystem::path(argv[1]) / ("expected-" + std::to_string(r) + "-" + std::to_string(t) + ".txt"),
                 r, meanings);
  if (lists == 0) fail("%s", "the trace is empty");
  check_communicators(run, meanings);
  check_pairs(run);
  std::printf("%d ranks, %d lists, %zu communicators: %d errors\n", ranks, lists, meanings.communicators.size(), bad);
  return bad != 0;
}
