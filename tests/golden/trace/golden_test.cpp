// Files of every version stay readable.  v1.0.trc was written from the sample by an encoder of its time, whose bytes a
// later one need not repeat.
#include <fstream>
#include <iterator>
#include <vector>

#include "compare.hpp"

TEST_CASE("the golden file of version 1.0 is read") {
  using namespace effort::record::trace;
  const Reader reader(std::filesystem::path(EFFORT_GOLDEN_DIRECTORY) / "v1.0.trc");
  test::check_sample(reader, test::sample());
}
