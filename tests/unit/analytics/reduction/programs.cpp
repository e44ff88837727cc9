#include "programs.hpp"

#include <algorithm>
#include <functional>
#include <random>

#include "tests/unit/analytics/communication/program.hpp"

namespace effort::reduction::test {

using communication::Operation;
using communication::test::Program;

namespace {

constexpr std::int64_t ms = 1'000'000, us = 1'000;

/// Computes and communicates; no rank leaves a call before its data has arrived.
class Machine {
 public:
  Machine(std::int32_t ranks, std::uint64_t seed) : program(ranks), random_(seed) {
    for (std::int32_t r = 0; r < ranks; ++r) all_.push_back(r);
  }

  Program program;
  /// Nodes whose interrupts each rank has; 0: none.
  std::int32_t nodes_of_rank = 0;

  std::int32_t ranks() const { return program.ranks(); }
  void each(const std::function<void(std::int32_t)>& body) {
    for (const std::int32_t r : all_) body(r);
  }
  void begin() {
    each([&](std::int32_t r) { program.enter(r, "iteration"); });
  }
  void end() {
    each([&](std::int32_t r) { program.leave(r); });
  }
  void work(std::int32_t rank, std::int64_t ns) {
    program.enter(rank, "do_work");
    const double time = static_cast<double>(ns) * (1 + 0.01 * uniform());
    program.compute(rank, static_cast<std::int64_t>(time) + interrupts(rank, time));
    program.leave(rank);
  }
  std::int64_t latency() { return static_cast<std::int64_t>(5.0 * us * (1 + 0.2 * uniform())); }

  void together(const std::string& name, Operation operation, std::int32_t root = -1) {
    std::int64_t last = 0;
    each([&](std::int32_t r) { last = std::max(last, program.now(r)); });
    std::vector<std::int64_t> until;
    for (const std::int32_t r : all_) {
      std::int64_t from = program.now(r);
      if (operation == Operation::barrier || operation == Operation::nxn) from = last;
      if (operation == Operation::to_root && r == root) from = last;
      if (operation == Operation::from_root) from = std::max(from, program.now(root));
      until.push_back(from + latency());
    }
    program.collective(name, operation, all_, root, until);
  }
  /// @param synchronous  the send does not end before the receive has begun
  void message(std::int32_t from, std::int32_t to, bool synchronous) {
    const std::int64_t sent = program.now(from), received = program.now(to);
    const std::int64_t ns = (synchronous ? std::max(sent, received) : sent) - sent + latency();
    program.send(from, to, synchronous ? 1 << 20 : 8, ns);
    program.receive(to, from, std::max(received, sent) - received + latency());
  }

 private:
  double uniform() { return std::uniform_real_distribution<>(-1, 1)(random_); }
  std::int64_t interrupts(std::int32_t rank, double ns) {
    struct Kind {
      double every_ns;
      std::int64_t takes_ns;
      bool special;
    };
    constexpr Kind kinds[] = {{10.0 * ms, 25 * us, false}, {125.0 * ms, 250 * us, false}, {1000.0 * ms, 5 * ms, true}};
    std::int64_t sum = 0;
    for (const Kind& kind : kinds) {
      if (nodes_of_rank == 0 || (kind.special && rank > 1 && rank != 31)) continue;
      std::poisson_distribution<> number(ns * nodes_of_rank / kind.every_ns);
      sum += number(random_) * kind.takes_ns;
    }
    return sum;
  }

  std::mt19937_64 random_;
  std::vector<std::int32_t> all_;
};

using Communicate = std::function<void(Machine&)>;

Communicate pairs(bool synchronous) {
  return [=](Machine& m) {
    for (std::int32_t r = 0; r + 1 < m.ranks(); r += 2) m.message(r, r + 1, synchronous);
  };
}
Communicate collective(const char* name, Operation operation, std::int32_t root = -1) {
  return [=](Machine& m) { m.together(name, operation, root); };
}

void repeat(Machine& m, int iterations, const std::function<std::int64_t(std::int32_t)>& work,
            const Communicate& communicate) {
  for (int i = 0; i < iterations; ++i) {
    m.begin();
    m.each([&](std::int32_t r) { m.work(r, work(r)); });
    communicate(m);
    m.end();
  }
}

void dyn_load_balance(Machine& m) {
  for (int i = 0; i < 200; ++i) {
    const double more = 0.04 * (i % 20);
    m.begin();
    m.each([&](std::int32_t r) {
      m.work(r, static_cast<std::int64_t>(static_cast<double>(ms) * (r < m.ranks() / 2 ? 1 - more : 1 + more)));
    });
    m.together("MPI_Alltoall", Operation::nxn);
    m.end();
  }
}

/// From each corner in turn, in blocks.
void sweep(Machine& m, std::int32_t columns) {
  const std::int32_t rows = m.ranks() / columns;
  for (int i = 0; i < 100; ++i) {
    m.begin();
    for (int corner = 0; corner < 4; ++corner) {
      const bool east = corner % 2 == 0, south = corner / 2 == 0;
      for (std::int32_t y = 0; y < rows; ++y) {
        for (std::int32_t x = 0; x < columns; ++x) {
          const std::int32_t column = east ? x : columns - 1 - x, row = south ? y : rows - 1 - y;
          const std::int32_t rank = row * columns + column;
          if (x > 0) m.message(rank + (east ? -1 : 1), rank, false);
          if (y > 0) m.message(rank + (south ? -columns : columns), rank, false);
          m.work(rank, ms / 5);
        }
      }
    }
    m.end();
  }
}

struct Named {
  std::string name;
  std::int32_t ranks;
  std::function<void(Machine&)> run;
};

std::vector<Named> programs() {
  const auto all = [](std::int64_t ns) { return [=](std::int32_t) { return ns; }; };
  const auto one_late = [](std::int32_t late) { return [=](std::int32_t r) { return r == late ? 2 * ms : ms; }; };
  const auto some_late = [](std::int32_t odd) { return [=](std::int32_t r) { return r % 2 == odd ? 2 * ms : ms; }; };
  const auto regular = [](const auto& work, const Communicate& communicate) {
    return [=](Machine& m) { repeat(m, 200, work, communicate); };
  };
  const auto noisy = [&](const Communicate& communicate, std::int32_t nodes) {
    return [=](Machine& m) {
      m.nodes_of_rank = nodes;
      repeat(m, 1000, all(ms), communicate);
    };
  };
  const Communicate gather = collective("MPI_Gather", Operation::to_root, 0),
                    broadcast = collective("MPI_Bcast", Operation::from_root, 0),
                    barrier = collective("MPI_Barrier", Operation::barrier),
                    all_to_all = collective("MPI_Alltoall", Operation::nxn);
  std::vector<Named> out = {
      {"late_sender", 8, regular(some_late(0), pairs(false))},
      {"late_receiver", 8, regular(some_late(1), pairs(true))},
      {"early_gather", 8, regular([](std::int32_t r) { return r == 0 ? ms : ms + r * ms / 8; }, gather)},
      {"late_broadcast", 8, regular(one_late(0), broadcast)},
      {"imbalance_at_mpi_barrier", 8, regular([](std::int32_t r) { return ms + r * ms / 8; }, barrier)},
      {"dyn_load_balance", 8, dyn_load_balance},
      {"sweep_8p", 8, [](Machine& m) { sweep(m, 4); }},
      {"sweep_32p", 32, [](Machine& m) { sweep(m, 8); }}};
  for (const std::int32_t nodes : {1, 32}) {
    const std::string of = nodes == 1 ? "_32" : "_1024";
    out.push_back({"Nto1" + of, 32, noisy(gather, nodes)});
    out.push_back({"1toN" + of, 32, noisy(broadcast, nodes)});
    out.push_back({"1to1r" + of, 32, noisy(pairs(false), nodes)});
    out.push_back({"1to1s" + of, 32, noisy(pairs(true), nodes)});
    out.push_back({"NtoN" + of, 32, noisy(all_to_all, nodes)});
  }
  return out;
}

}  // namespace

std::vector<std::string> program_names() {
  std::vector<std::string> out;
  for (const Named& p : programs()) out.push_back(p.name);
  return out;
}

communication::Record program(const std::string& name, std::uint64_t seed) {
  for (const Named& p : programs()) {
    if (p.name != name) continue;
    Machine machine(p.ranks, seed);
    p.run(machine);
    return machine.program.record();
  }
  return {};
}

Segments iterations(const communication::Record& record) {
  std::vector<bool> regions;
  for (const std::string& name : record.regions) regions.push_back(name == "iteration");
  return cut_at_regions(record, regions);
}

}  // namespace effort::reduction::test
