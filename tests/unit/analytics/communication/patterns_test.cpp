// Patterns of generated programs, among them the sample of the paper.
#include "analytics/communication/patterns.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "analytics/communication/phases.hpp"
#include "analytics/communication/slow.hpp"
#include "program.hpp"

using namespace effort::communication;
using namespace effort::communication::test;

namespace {

/// "S3 R2" for ranks numbered from 1, as the paper writes it.
std::string text_of(const Patterns& patterns, const Instance& instance, std::int32_t rank) {
  std::string text;
  for (std::size_t e = instance.first_event; e < instance.end_event; ++e) {
    const Event& event = patterns.events[e];
    if (event.rank != rank) continue;
    if (!text.empty()) text += " ";
    text += (event.kind == Event::Kind::send ? "S" : "R") + std::to_string(event.peer + 1);
  }
  return text;
}

/// Events "S3 R2" of a rank in a function of its own, completed by MPI_Waitall.
void group(Program& program, std::int32_t rank, const std::string& events) {
  program.enter(rank, "F");
  for (std::size_t i = 0; i < events.size(); i += 3) {
    const std::int32_t peer = events[i + 1] - '1';
    events[i] == 'S' ? program.start_send(rank, peer) : program.start_receive(rank, peer);
  }
  program.wait_all(rank);
  program.leave(rank);
}

/// Figure 6 of the paper.
Record sample() {
  Program program(4);
  const std::array<std::vector<std::string>, 4> communication = {
      {{"S3 S2 R3 R2", "S4 S1 R1", "S1 R4 S4 R1", "S3 R2 R3"},
       {"S2 R3", "S4 R1", "S1 R4", "S3 R2"},
       {"S3", "", "R1", ""},
       {"", "S4", "", "R2"}}};
  for (std::int32_t r = 0; r < 4; ++r) program.enter(r, "M");
  for (const std::size_t pattern : {0, 0, 0, 1, 2, 3, 0, 1, 2, 3}) {
    for (std::int32_t r = 0; r < 4; ++r) {
      const std::string& events = communication[pattern][static_cast<std::size_t>(r)];
      if (!events.empty()) group(program, r, events);
    }
    program.meet();
  }
  for (std::int32_t r = 0; r < 4; ++r) program.leave(r);
  return program.record();
}

std::vector<std::uint32_t> sequence_of(const Patterns& patterns) {
  std::vector<std::uint32_t> sequence;
  for (const Instance& instance : patterns.instances) sequence.push_back(instance.pattern);
  return sequence;
}

/// Properties of all results.
void check(const Record& record, const Patterns& patterns) {
  std::vector<std::size_t> counts(patterns.patterns.size());
  std::size_t event = 0;
  std::map<std::uint32_t, std::set<std::size_t>> of_message;
  std::int64_t start = patterns.instances.empty() ? 0 : patterns.instances.front().start_ns;
  for (std::size_t i = 0; i < patterns.instances.size(); ++i) {
    const Instance& instance = patterns.instances[i];
    REQUIRE(instance.start_ns >= start);
    start = instance.start_ns;
    REQUIRE(instance.end_ns >= instance.start_ns);
    REQUIRE(instance.first_event == event);
    REQUIRE(instance.end_event > event);
    event = instance.end_event;
    if (counts[instance.pattern]++ == 0) REQUIRE(patterns.patterns[instance.pattern].first_instance == i);
    REQUIRE(patterns.patterns[instance.pattern].events == instance.end_event - instance.first_event);
    std::set<std::int32_t> ranks;
    for (std::size_t e = instance.first_event; e < instance.end_event; ++e) {
      const Event& own = patterns.events[e];
      ranks.insert(own.rank);
      REQUIRE(begin_of(record, own) >= instance.start_ns);
      REQUIRE(end_of(record, own) <= instance.end_ns);
      if (own.kind != Event::Kind::collective) of_message[own.of].insert(i);
    }
    REQUIRE(ranks.size() == patterns.patterns[instance.pattern].ranks);
    REQUIRE(ranks.count(instance.first_rank) == 1);
    REQUIRE(ranks.count(instance.last_rank) == 1);
  }
  REQUIRE(event == patterns.events.size());
  for (const auto& [message, instances] : of_message) REQUIRE(instances.size() == 1);
  for (std::size_t p = 0; p < counts.size(); ++p) {
    REQUIRE(counts[p] == patterns.patterns[p].instances);
    REQUIRE(!patterns.patterns[p].name.empty());
  }
}

Patterns found(const Record& record, Symbols symbols = Symbols::relative) {
  Patterns patterns = find_patterns(record, symbols);
  check(record, patterns);
  return patterns;
}

std::map<std::string, std::size_t> names_of(const Patterns& patterns) {
  std::map<std::string, std::size_t> names;
  for (const Pattern& pattern : patterns.patterns) names[pattern.name] += pattern.instances;
  return names;
}

/// Nonblocking exchange with the neighbours on a grid with rows of nx ranks, in a function.
void halo(Program& program, std::int32_t first, std::int32_t nx, std::int32_t ny, const std::string& function,
          std::uint64_t bytes) {
  const auto for_neighbours = [&](std::int32_t x, std::int32_t y, const std::function<void(std::int32_t)>& act) {
    if (x > 0) act(first + y * nx + x - 1);
    if (x + 1 < nx) act(first + y * nx + x + 1);
    if (y > 0) act(first + (y - 1) * nx + x);
    if (y + 1 < ny) act(first + (y + 1) * nx + x);
  };
  for (std::int32_t y = 0; y < ny; ++y) {
    for (std::int32_t x = 0; x < nx; ++x) {
      const std::int32_t rank = first + y * nx + x;
      program.enter(rank, function);
      for_neighbours(x, y, [&](std::int32_t from) { program.start_receive(rank, from); });
      for_neighbours(x, y, [&](std::int32_t to) { program.start_send(rank, to, bytes); });
      program.wait_all(rank);
      program.leave(rank);
    }
  }
}

std::vector<std::int32_t> all_of(const Program& program) {
  std::vector<std::int32_t> ranks;
  for (std::int32_t r = 0; r < program.ranks(); ++r) ranks.push_back(r);
  return ranks;
}

}  // namespace

TEST_CASE("tables 2 to 5 of Alawneh & Hamou-Lhadj 2022") {
  const Record record = sample();
  const Patterns patterns = found(record, Symbols::absolute);
  REQUIRE(patterns.patterns.size() == 4);
  const std::array<std::array<std::string, 4>, 4> table3 = {{{"S3 S2 R3 R2", "S4 S1 R1", "S1 R4 S4 R1", "S3 R2 R3"},
                                                             {"S2 R3", "S4 R1", "S1 R4", "S3 R2"},
                                                             {"S3", "", "R1", ""},
                                                             {"", "S4", "", "R2"}}};
  const std::array<std::size_t, 4> frequency = {4, 2, 2, 2}, events = {14, 8, 2, 2};
  for (std::size_t p = 0; p < 4; ++p) {
    REQUIRE(patterns.patterns[p].instances == frequency[p]);
    REQUIRE(patterns.patterns[p].events == events[p]);
  }
  for (const Instance& instance : patterns.instances) {
    for (std::int32_t r = 0; r < 4; ++r)
      REQUIRE(text_of(patterns, instance, r) == table3[instance.pattern][static_cast<std::size_t>(r)]);
    REQUIRE(record.regions[instance.function] == "F");
  }
  const std::vector<std::uint32_t> table4 = {0, 0, 0, 1, 2, 3, 0, 1, 2, 3};
  REQUIRE(sequence_of(patterns) == table4);
  const Phases phases = find_phases(table4, 4);
  REQUIRE(phases.leaves.size() == 2);
  REQUIRE(phases.leaves[0].end == 3);
  // With ranks numbered within an instance, the single messages of CP3 and CP4 are the same.
  const Patterns relative = found(record);
  REQUIRE(relative.patterns.size() == 3);
  REQUIRE(relative.patterns[2].instances == 4);
}

TEST_CASE("the same halo in two places") {
  Program program(24);
  for (std::int32_t r = 0; r < 24; ++r) program.enter(r, "main");
  for (int step = 0; step < 5; ++step) {
    halo(program, 0, 4, 3, "exchange", 100);
    halo(program, 12, 4, 3, "update", 100);
    program.collective("MPI_Allreduce", Operation::nxn, all_of(program));
    program.meet();
  }
  for (std::int32_t r = 0; r < 24; ++r) program.leave(r);
  const Patterns relative = found(program.record());
  REQUIRE(names_of(relative) == std::map<std::string, std::size_t>{{"2D halo", 10}, {"allreduce", 5}});
  REQUIRE(relative.patterns[0].grid == std::vector<std::uint32_t>{3, 4});
  REQUIRE(relative.patterns[0].ranks == 12);
  REQUIRE(relative.patterns[0].events == 2 * 34);
  REQUIRE(relative.instances[0].bytes == 34 * 100);
  const Patterns absolute = found(program.record(), Symbols::absolute);
  REQUIRE(names_of(absolute) == names_of(relative));
  REQUIRE(absolute.patterns.size() == 3);
}

TEST_CASE("contexts distinguish patterns if symbols are absolute") {
  Program program(4);
  for (std::int32_t r = 0; r < 4; ++r) program.enter(r, "main");
  for (int step = 0; step < 3; ++step) {
    halo(program, 0, 2, 2, "a", 8);
    program.meet();
    halo(program, 0, 2, 2, "b", 8);
    program.meet();
  }
  const Record record = program.record();
  REQUIRE(found(record).patterns.size() == 1);
  REQUIRE(found(record, Symbols::absolute).patterns.size() == 2);
}

TEST_CASE("a trace without functions") {
  // MPI_Waitall and blocking calls bound the groups.
  Program program(6);
  for (int step = 0; step < 4; ++step) {
    halo(program, 0, 3, 2, "", 8);
    for (std::int32_t r = 0; r < 6; ++r) program.send_receive(r, (r + 1) % 6, (r + 5) % 6);
    program.collective(step % 2 == 0 ? "MPI_Bcast: main" : "MPI_Bcast [a+0x1]", Operation::from_root, all_of(program),
                       0);
    program.collective("MPI_Iallreduce", Operation::nxn, all_of(program));
    program.meet();
  }
  Record record = program.record();
  for (Call& call : record.calls) call.parent = none;
  const auto is_function = [&](const Call& call) { return call.operation == Operation::user; };
  REQUIRE(std::any_of(record.calls.begin(), record.calls.end(), is_function));
  for (Call& call : record.calls) {
    if (is_function(call)) call.operation = Operation::other;
  }
  const Patterns patterns = found(record);
  REQUIRE(names_of(patterns) ==
          std::map<std::string, std::size_t>{{"2D halo", 4}, {"ring", 4}, {"bcast", 4}, {"allreduce", 4}});
  REQUIRE(sequence_of(patterns).size() == 16);
}

TEST_CASE("collectives of a function are one pattern") {
  Program program(3);
  for (std::int32_t r = 0; r < 3; ++r) program.enter(r, "main");
  for (int step = 0; step < 3; ++step) {
    for (std::int32_t r = 0; r < 3; ++r) program.enter(r, "norm");
    for (int i = 0; i < 2; ++i) program.collective("MPI_Allreduce", Operation::nxn, all_of(program));
    program.collective("MPI_Barrier", Operation::barrier, all_of(program));
    for (std::int32_t r = 0; r < 3; ++r) program.leave(r);
    program.meet();
  }
  REQUIRE(names_of(found(program.record())) == std::map<std::string, std::size_t>{{"2 x allreduce + barrier", 3}});
}

TEST_CASE("single messages have a name together") {
  for (const std::int32_t n : {4, 7, 16}) {
    Program work(n), transpose(n * n), gather(n), butterfly(16);
    for (int step = 0; step < 3; ++step) {
      for (std::int32_t r = 1; r < n; ++r) {
        work.send(0, r), work.receive(r, 0);
        work.send(r, 0), work.receive(0, r);
        gather.send(r, 0), gather.receive(0, r);
      }
      for (std::int32_t i = 0; i < n; ++i) {
        for (std::int32_t j = 0; j < n; ++j)
          if (i != j) transpose.send_receive(i * n + j, j * n + i, j * n + i);
      }
      for (std::int32_t bit = 1; bit < 16; bit *= 2)
        for (std::int32_t r = 0; r < 16; ++r) butterfly.send_receive(r, r ^ bit, r ^ bit);
    }
    const auto only = [](const Program& program, const std::string& name) {
      for (const Symbols symbols : {Symbols::relative, Symbols::absolute}) {
        for (const Pattern& pattern : found(program.record(), symbols).patterns) REQUIRE(pattern.name == name);
      }
    };
    only(work, "master-worker");
    only(gather, "gather to a root");
    only(transpose, "transpose");
    only(butterfly, "butterfly");
  }
}

TEST_CASE("the ranks that start first and last") {
  Program program(3);
  program.compute(0, 500), program.compute(1, 200), program.compute(2, 300);
  for (std::int32_t r = 0; r < 3; ++r) program.send_receive(r, (r + 1) % 3, (r + 2) % 3, 10);
  const Patterns patterns = found(program.record());
  REQUIRE(patterns.instances.size() == 1);
  REQUIRE(patterns.instances[0].first_rank == 1);
  REQUIRE(patterns.instances[0].last_rank == 0);
  REQUIRE(patterns.instances[0].start_ns == 200);
  REQUIRE(patterns.instances[0].last_start_ns == 500);
  REQUIRE(patterns.instances[0].end_ns == 600);
  REQUIRE(patterns.instances[0].bytes == 30);
}

TEST_CASE("empty records, one rank, messages to oneself, halves, ranks outside the world") {
  REQUIRE(found({}).patterns.empty());
  Program none(2);
  REQUIRE(found(none.record()).instances.empty());
  Program alone(1);
  alone.start_send(0, 0), alone.start_receive(0, 0), alone.wait_all(0);
  alone.collective("MPI_Barrier", Operation::barrier, {0});
  REQUIRE(names_of(found(alone.record())) == std::map<std::string, std::size_t>{{"self messages", 1}, {"barrier", 1}});
  Program halves(2);
  halves.send(0, 1), halves.send(0, 1), halves.receive(1, 0);
  REQUIRE(found(halves.record()).instances.size() == 1);
  Record outside = halves.record();
  outside.locations[1].rank = 7;
  const Patterns patterns = found(outside);
  REQUIRE(patterns.instances.empty());
  REQUIRE(patterns.left_out == 2);
}

TEST_CASE("any record has a result") {
  std::mt19937 random(6);
  const auto below = [&](std::size_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int round = 0; round < 300; ++round) {
    Record record;
    record.n_ranks = static_cast<std::int32_t>(below(6)) - 1;
    record.regions = {"main", "MPI_Send", "MPI_Recv", "MPI_Iallreduce", "", "MPI_"};
    const std::uint32_t n = below(60);
    for (std::uint32_t c = 0; c < n; ++c) {
      const std::int64_t begin = static_cast<std::int64_t>(below(1000)) - 100;
      record.calls.push_back({begin, begin + static_cast<std::int64_t>(below(100)) - 10, below(8),
                              below(3) == 0 ? none : below(n + 2), static_cast<Operation>(below(16)), true, true});
    }
    for (std::uint32_t l = below(6); l > 0; --l)
      record.locations.push_back({static_cast<std::int32_t>(below(7)) - 1, 0, below(n + 1), below(n + 3)});
    const auto call = [&] { return below(8) == 0 ? none : below(n + 2); };
    for (std::uint32_t m = below(60); m > 0; --m)
      record.messages.push_back({static_cast<std::int32_t>(below(7)) - 1, static_cast<std::int32_t>(below(7)) - 1, 0, 0,
                                 below(3), call(), call(), call(), call()});
    for (std::uint32_t p = below(30); p > 0; --p) {
      Participation part;
      part.rank = static_cast<std::int32_t>(below(7)) - 1;
      part.start = call(), part.done = call();
      record.participations.push_back(part);
    }
    for (std::uint32_t c = below(8); c > 0; --c) {
      Collective collective;
      collective.root = static_cast<std::int32_t>(below(9)) - 2;
      collective.first = below(32), collective.end = below(34);
      record.collectives.push_back(collective);
    }
    for (std::uint32_t s = below(3); s > 0; --s) record.spans.push_back({0, 0, below(900), below(900)});
    for (const Symbols symbols : {Symbols::relative, Symbols::absolute}) {
      const Patterns patterns = find_patterns(record, symbols);
      for (const SlowInstance& slow : find_slow(record, patterns, 0.1)) {
        REQUIRE(slow.instance < patterns.instances.size());
        REQUIRE(slow.longest < patterns.events.size());
      }
    }
  }
}
