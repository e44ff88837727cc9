// Every number of the table of analytics/window/report.hpp has the same value in the hint and in the snapshot.
#include "check.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "record/reader.hpp"

namespace {

constexpr int steps = 60;

int keep(const effort_hint* hint, void* hints) {
  static_cast<std::vector<effort_hint>*>(hints)->push_back(*hint);
  return hint->step == 21 ? 1 : 0;
}

std::vector<effort_hint> hints_of_a_run(const char* snapshot) {
  std::vector<effort_hint> hints;
  effort_region_id solve;
  effort_config* config = nullptr;
  CHECK_OK(effort_config_new(&config));
  CHECK_OK(effort_config_set(config, "WINDOW", "10"));
  CHECK_OK(effort_init(config));
  CHECK_OK(effort_config_free(config));
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  CHECK_OK(effort_on_rebalance(keep, &hints));
  for (int s = 0; s < steps; ++s) {
    CHECK_OK(effort_add(solve, 1e-3 * (1 + s % 7)));
    CHECK_OK(effort_progress_step());
  }
  CHECK_OK(effort_snapshot(snapshot));
  CHECK_OK(effort_finalize());
  return hints;
}

void compare(const effort_hint& hint, const effort::record::Window& window) {
#define EFFORT_NUMBER(name, unknown, unit, meaning) CHECK(hint.name == window.name);
  EFFORT_HINT_NUMBERS(EFFORT_NUMBER)
#undef EFFORT_NUMBER
}

}  // namespace

int main() {
  const char* const path = "numbers.effort";
  std::filesystem::remove(path);
  const std::vector<effort_hint> hints = hints_of_a_run(path);
  effort::record::Reader reader(path);
  const auto& windows = reader.run().windows;
  CHECK(hints.size() == steps / 10 - 1);  // the last window's hint would come after the run
  for (const effort_hint& hint : hints) {
    const auto same = [&](const auto& window) { return window.last == hint.window_last; };
    const auto window = std::find_if(windows.begin(), windows.end(), same);
    if (CHECK(window != windows.end())) compare(hint, *window);
  }
  return failures() != 0;
}
