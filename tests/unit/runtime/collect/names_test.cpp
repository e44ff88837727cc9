// The names of a run, united over ranks and nodes.
#include "runtime/collect/names.hpp"
#include "analytics/comm/thread_group.hpp"

#include <catch2/catch_test_macros.hpp>

#include <vector>

using namespace effort;
using namespace effort::engine;
using measure::Definition;
using measure::Kind;

TEST_CASE("a region of different kinds on two ranks, of one node or of two, is in conflict on all nodes") {
  for (const int n : {1, 2}) {
    std::vector<RunNames::Item> found(static_cast<std::size_t>(n));
    run_thread_group(n, [&](Communicator& nodes) {
      NameUnion names;
      if (nodes.rank() == 0) names.add({Definition::region, 1, Kind::comm, "mixed", ""});
      if (nodes.rank() == n - 1) names.add({Definition::region, 1, Kind::compute, "mixed", ""});
      names.share(nodes);
      if (names.run().of(Definition::region).size() == 1)
        found[static_cast<std::size_t>(nodes.rank())] = names.run().of(Definition::region)[0];
    });
    for (const RunNames::Item& item : found) CHECK(item.conflict);
    if (n == 1) CHECK(found[0].kind == Kind::comm);  // as on the node
  }
}

TEST_CASE("a conflict that comes later is shared, too, and ids stay as they are") {
  run_thread_group(1, [](Communicator& nodes) {
    NameUnion names;
    const NodeId id = names.add({Definition::region, 1, Kind::compute, "mixed", ""});
    names.share(nodes);
    CHECK_FALSE(names.run().of(Definition::region)[0].conflict);
    CHECK(names.add({Definition::region, 3, Kind::wait, "mixed", ""}) == id);
    CHECK(names.add({Definition::region, 4, Kind::io, "mixed", ""}) == id);
    CHECK(names.has_news());
    names.share(nodes);
    CHECK_FALSE(names.has_news());
    REQUIRE(names.run().of(Definition::region).size() == 1);
    CHECK(names.run().of(Definition::region)[0].conflict);
    CHECK(names.run().of(Definition::region)[0].kind == Kind::compute);
  });
}
