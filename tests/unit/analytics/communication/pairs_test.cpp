// Pairs of ranks, their matrix, and the details of one.
#include "analytics/communication/pairs.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "analytics/communication/call_tree.hpp"
#include "analytics/communication/matrix.hpp"
#include "analytics/communication/pair_details.hpp"
#include "made.hpp"

using namespace effort::communication;
using namespace effort::communication::test;
using Catch::Approx;
using Op = Operation;

TEST_CASE("messages, bytes and times of pairs") {
  Made made(3);
  constexpr std::uint64_t large = (std::uint64_t{1} << 31) + 5;
  made.message(made.call(2, Op::send, 100, 130), made.call(0, Op::receive, 50, 200), large);
  made.message(made.call(0, Op::send, 300, 310), made.call(2, Op::receive, 305, 320), large);
  made.message(made.call(1, Op::send, 400, 410), made.call(1, Op::receive, 420, 430), 1);  // to itself
  made.message(made.call(1, Op::send, 900, 920), made.call(0, Op::receive, 800, 850), 4);  // by the clocks, before
  made.message({}, {}, {}, made.call(0, Op::receive, 1000, 1010), 6);
  Record record = made.done();
  record.messages.back().sender = 1;
  const Pairs pairs = find_pairs(record);
  REQUIRE(pairs.pairs.size() == 2);
  CHECK(pairs.to_self == 1);
  CHECK(pairs.unknown_ends == 1);
  const Pair &first = pairs.pairs[0], &second = pairs.pairs[1];
  CHECK((first.a == 0 && first.b == 1 && second.a == 0 && second.b == 2));
  CHECK(first.messages == 2);
  CHECK(first.time_ns == 0);
  CHECK(first.calls_ns == 20 + 50);
  CHECK(second.messages == 2);
  CHECK(second.bytes == 2 * large);
  CHECK(second.time_ns == 100 + 20);
  CHECK(second.calls_ns == 30 + 150 + 10 + 15);
  CHECK(pair_distance(second) == 1.0 / 120);
  CHECK(pair_distance(first) == 1.0);
  CHECK(find_pairs(Record()).pairs.empty());
}

TEST_CASE("the matrix counts messages at the sender, and divides a call among its messages") {
  Made made(3);
  const At a = made.call(0, Op::send_start, 0, 10, "MPI_Isend"), b = made.call(0, Op::send_start, 20, 40, "MPI_Isend");
  const At all = made.call(0, Op::wait_all, 100, 160, "MPI_Waitall");
  const At one = made.call(1, Op::receive, 0, 50, "MPI_Recv"), two = made.call(2, Op::receive, 0, 70, "MPI_Recv");
  made.message(a, all, one, one, 100);
  made.message(b, all, two, two, 200);
  const Record record = made.done();
  const CallTree tree = call_tree(record);
  const std::vector<Flow> flows = message_matrix(record, tree.of_call);
  REQUIRE(flows.size() == 6);  // to each of two ranks: the send, its completion, the receive
  std::uint64_t messages = 0, bytes = 0;
  double ns = 0;
  for (const Flow& f : flows) {
    CHECK(f.a == 0);
    const bool sends = path_text(record, tree, f.path) == "MPI_Isend";
    CHECK(f.messages == (sends ? 1 : 0));
    if (path_text(record, tree, f.path) == "MPI_Waitall") CHECK(f.ns == 30);
    messages += f.messages, bytes += f.bytes, ns += f.ns;
  }
  CHECK(messages == 2);
  CHECK(bytes == 300);
  CHECK(ns == 10 + 20 + 60 + 50 + 70);
}

TEST_CASE("the fit finds latency and cost per byte despite outliers") {
  std::vector<std::uint64_t> bytes;
  std::vector<double> ns;
  for (int i = 0; i < 200; ++i) {
    bytes.push_back(static_cast<std::uint64_t>(1000 * (i % 10 + 1)));
    ns.push_back(5000 + 0.25 * static_cast<double>(bytes.back()) + (i % 7 - 3) + (i % 9 == 0 ? 1e6 : 0));
  }
  const TransferFit fit = fit_transfers(bytes, ns);
  REQUIRE(fit.known);
  CHECK(fit.ns_per_byte == Approx(0.25).epsilon(0.01));
  CHECK(fit.latency_ns == Approx(5000).epsilon(0.01));
  CHECK(fit.knee_bytes() == Approx(20000).epsilon(0.02));
  // One size does not show the cost per byte; a thousand sizes are not too many.
  const TransferFit flat = fit_transfers(std::vector<std::uint64_t>(9, 8), std::vector<double>(9, 700));
  CHECK(!flat.known);
  CHECK(flat.latency_ns == 700);
  CHECK(flat.knee_bytes() == 0);
  CHECK(fit_transfers({}, {}).latency_ns == 0);
  bytes.clear(), ns.clear();
  for (std::uint64_t i = 1; i <= 1000; ++i) bytes.push_back(8 * i), ns.push_back(100 + 2 * 8 * static_cast<double>(i));
  CHECK(fit_transfers(bytes, ns).ns_per_byte == Approx(2));
}

TEST_CASE("small messages of one step could be combined") {
  Made made(2);
  std::int64_t now = 0;
  for (int step = 0; step < 4; ++step) {
    made.record().steps.push_back({0, step, now});
    for (int k = 0; k < 5; ++k) {
      const std::uint64_t bytes = k < 3 ? 100 : 100'000;  // three small ones
      const std::int64_t takes = 1000 + static_cast<std::int64_t>(bytes) / 10;
      made.message(made.call(0, Op::send, now, now + 10, "MPI_Send"),
                   made.call(1, Op::receive, now, now + takes + (step == 2 && k == 4 ? 500'000 : 0), "MPI_Recv"),
                   bytes);
      now += 1'000'000;
    }
  }
  const Record record = made.done();
  const CallTree tree = call_tree(record);
  const PairDetails details = pair_details(record, 1, 0, tree.of_call);
  REQUIRE(details.messages.size() == 20);
  CHECK(!details.messages[0].from_a);
  CHECK(details.fit.ns_per_byte == Approx(0.1));
  CHECK(details.fit.latency_ns == Approx(1000));
  REQUIRE(details.packs.size() == 1);
  CHECK(details.packs[0].packs == 4);
  CHECK(details.packs[0].messages == 12);
  CHECK(details.packs[0].bytes == 1200);
  CHECK(details.packs[0].gain_ns == Approx(4 * 2 * 1000));
  std::size_t outliers = 0;
  for (const PairMessage& m : details.messages) outliers += m.outlier ? 1 : 0;
  CHECK(outliers == 1);
  CHECK(details.messages[14].outlier);
  CHECK(pair_details(record, 0, 5, tree.of_call).messages.empty());
}

TEST_CASE("without steps, messages between two collectives could be combined") {
  Made made(2);
  std::int64_t now = 0;
  for (int round = 0; round < 3; ++round) {
    for (const std::uint64_t bytes : {8, 8, 1'000'000}) {
      made.message(made.call(0, Op::send, now, now + 10),
                   made.call(1, Op::receive, now, now + 500 + static_cast<std::int64_t>(bytes)), bytes);
      now += 10'000'000;
    }
    made.call(0, Op::barrier, now, now + 1);
    now += 10;
  }
  const Record record = made.done();
  const PairDetails details = pair_details(record, 0, 1, call_tree(record).of_call);
  REQUIRE(details.packs.size() == 1);
  CHECK(details.packs[0].packs == 3);
  CHECK(details.packs[0].messages == 6);
}
