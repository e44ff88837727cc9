// Files of every version stay readable.  They were written from the sample by an encoder of their time, whose bytes a
// later one need not repeat.
#include <fstream>
#include <iterator>
#include <vector>

#include "compare.hpp"

TEST_CASE("the golden file of version 1.0 is read") {
  using namespace effort::record::trace;
  const Reader reader(std::filesystem::path(EFFORT_GOLDEN_DIRECTORY) / "v1.0.trc");
  test::Sample sample = test::sample();
  sample.modules.modules.clear();
  test::check_sample(reader, sample);
}

TEST_CASE("the golden file of version 1.1 is read") {
  using namespace effort::record::trace;
  const Reader reader(std::filesystem::path(EFFORT_GOLDEN_DIRECTORY) / "v1.1.trc");
  test::check_sample(reader, test::sample());
}
