// Files of every version stay readable.  They were written from the sample by an encoder of their time, whose bytes a
// later one need not repeat.
#include <fstream>
#include <iterator>
#include <vector>

#include "compare.hpp"

namespace {

/// As versions before 1.5 wrote it.
effort::record::trace::test::Sample without_sums(effort::record::trace::test::Sample sample) {
  sample.ends.clear();
  for (auto& window : sample.windows) window.region_sums.reset();
  return sample;
}

/// As version 1.6 wrote it.
effort::record::trace::test::Sample without_ends(effort::record::trace::test::Sample sample) {
  sample.ends.clear();
  return sample;
}

/// As version 1.5 wrote it.
effort::record::trace::test::Sample without_calls(effort::record::trace::test::Sample sample) {
  sample.ends.clear();
  for (auto& window : sample.windows)
    if (window.region_sums)
      for (auto& sum : *window.region_sums) sum.calls = -1;
  return sample;
}

}  // namespace

TEST_CASE("the golden file of version 1.0 is read") {
  using namespace effort::record::trace;
  const Reader reader(std::filesystem::path(EFFORT_GOLDEN_DIRECTORY) / "v1.0.trc");
  test::Sample sample = without_sums(test::sample(test::kinds_of_1_0));
  sample.modules.modules.clear();
  test::check_sample(reader, sample);
}

TEST_CASE("the golden file of version 1.1 is read") {
  using namespace effort::record::trace;
  const Reader reader(std::filesystem::path(EFFORT_GOLDEN_DIRECTORY) / "v1.1.trc");
  test::check_sample(reader, without_sums(test::sample(test::kinds_of_1_0)));
}

TEST_CASE("the golden file of version 1.2 is read") {
  using namespace effort::record::trace;
  const Reader reader(std::filesystem::path(EFFORT_GOLDEN_DIRECTORY) / "v1.2.trc");
  test::check_sample(reader, without_sums(test::sample()));
  bool one_sided = false;
  for (const EventsInfo& chunk : reader.chunks())
    for (const Event& event : reader.rebuilt(chunk).events) one_sided = one_sided || event.kind == Kind::one_sided;
  CHECK(one_sided);
}

TEST_CASE("the golden file of version 1.3, which has reduced windows, is read") {
  using namespace effort::record::trace;
  const Reader reader(std::filesystem::path(EFFORT_GOLDEN_DIRECTORY) / "v1.3.trc");
  test::check_sample(reader, without_sums(test::sample(effort::trace::n_kinds, true)));
}

TEST_CASE("the golden file of version 1.4, whose sequences and times are coded otherwise, is read") {
  using namespace effort::record::trace;
  const Reader reader(std::filesystem::path(EFFORT_GOLDEN_DIRECTORY) / "v1.4.trc");
  test::check_sample(reader, without_sums(test::sample(effort::trace::n_kinds, true)));
}

TEST_CASE("the golden file of version 1.5, which has times of regions, is read") {
  using namespace effort::record::trace;
  const Reader reader(std::filesystem::path(EFFORT_GOLDEN_DIRECTORY) / "v1.5.trc");
  test::check_sample(reader, without_calls(test::sample(effort::trace::n_kinds, true)));
}

TEST_CASE("the golden file of version 1.6, which has calls of regions, is read") {
  using namespace effort::record::trace;
  const Reader reader(std::filesystem::path(EFFORT_GOLDEN_DIRECTORY) / "v1.6.trc");
  test::check_sample(reader, without_ends(test::sample(effort::trace::n_kinds, true)));
  CHECK_FALSE(reader.has_ends());
}

TEST_CASE("the golden file of version 1.7, which has the ends of its nodes, is read") {
  using namespace effort::record::trace;
  const Reader reader(std::filesystem::path(EFFORT_GOLDEN_DIRECTORY) / "v1.7.trc");
  test::check_sample(reader, test::sample(effort::trace::n_kinds, true));
  CHECK(reader.has_ends());
}
