// Checks that a trace has both ends of every message of a kept rank, and nothing else of other ranks.
//   check_partners DIRECTORY   the folder of a run of test_pmpi_partners
#include "failures.hpp"
#include "record/trace/reader.hpp"

#include <cstdio>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace trace = effort::record::trace;
using effort::test::bad;
using effort::test::fail;
using trace::Event;
using trace::Kind;

namespace {

/// Communicator, sender, receiver, tag.
using Channel = std::tuple<std::uint32_t, int, int, int>;

/// One window of the run, all nodes together.
struct Window {
  std::map<int, bool> partner;                                    ///< by rank: whether it is only a partner
  std::map<Channel, std::vector<std::uint64_t>> out, in;          ///< bytes, in order
  std::map<std::pair<int, std::uint32_t>, std::int64_t> pending;  ///< starts by rank and request
  int kept = 0, partners = 0;
};

bool is_kept(const Window& w, int rank) {
  const auto known = w.partner.find(rank);
  return known != w.partner.end() && !known->second;
}

void take(Window& w, int rank, const Event& e) {
  const bool partner = !is_kept(w, rank);
  const bool sends = e.kind == Kind::send || e.kind == Kind::send_start;
  const bool receives = e.kind == Kind::receive || e.kind == Kind::receive_done;
  if (partner && (e.kind < Kind::send || e.kind > Kind::request_cancelled))
    fail("partner %d has more than messages", rank);
  if (partner && (sends || receives) && !is_kept(w, e.peer))
    fail("partner %d has a message with %d, which is not kept", rank, e.peer);
  if (sends) w.out[{e.id, rank, e.peer, e.tag}].push_back(e.bytes);
  if (receives) w.in[{e.id, e.peer, rank, e.tag}].push_back(e.bytes);
  if (e.kind == Kind::send_start || e.kind == Kind::receive_start) w.pending[{rank, e.request}] = e.time_ns;
  if (e.kind == Kind::send_done || e.kind == Kind::receive_done || e.kind == Kind::request_cancelled)
    if (w.pending.erase({rank, e.request}) == 0)
      fail("rank %d completes request %u, which has no start", rank, e.request);
}

void check(const Window& w, long number) {
  const auto one_kept = [&](const Channel& c) { return is_kept(w, std::get<1>(c)) || is_kept(w, std::get<2>(c)); };
  for (const auto* ends : {&w.out, &w.in}) {
    const auto& others = ends == &w.out ? w.in : w.out;
    for (const auto& [channel, bytes] : *ends) {
      if (!one_kept(channel)) fail("window %ld: a message of two partners", number);
      const auto other = others.find(channel);
      if (other == others.end() || other->second != bytes)
        fail("window %ld: %zu %s from %d to %d with tag %d, but not as many of the other end", number, bytes.size(),
             ends == &w.out ? "sends" : "receives", std::get<1>(channel), std::get<2>(channel), std::get<3>(channel));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::map<long, Window> windows;
  std::vector<trace::Reader> readers;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[1]))
    if (entry.path().extension() == ".trc") readers.emplace_back(entry.path());
  for (const trace::Reader& reader : readers) {
    if (reader.header().job != readers[0].header().job) fail("%s is of another job", reader.name().c_str());
    for (const trace::Window& w : reader.windows())
      for (const auto& r : w.ranks) {
        const bool partner = r.reasons == trace::reason_partner;
        if (!partner && (r.reasons & trace::reason_partner) != 0) fail("rank %d is kept and a partner", r.rank);
        if (partner && r.probability != 0) fail("partner %d has a probability", r.rank);
        windows[w.window].partner[r.rank] = partner;
        ++(partner ? windows[w.window].partners : windows[w.window].kept);
      }
  }
  for (const trace::Reader& reader : readers)
    for (const auto& chunk : reader.chunks())
      for (const Event& e : reader.rebuilt(chunk).events) take(windows[chunk.window], chunk.rank, e);
  int partners = 0;
  for (const auto& [number, window] : windows) {
    check(window, number);
    partners += window.partners;
    std::printf("window %ld: %d kept, %d partners, %zu channels\n", number, window.kept, window.partners,
                window.out.size());
  }
  if (windows.size() < 3 || partners == 0) fail("%zu windows with %d partners", windows.size(), partners);
  return bad != 0;
}
