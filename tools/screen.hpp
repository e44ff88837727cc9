// A terminal taken over for a while.
#pragma once

#include <memory>
#include <string>

namespace effort::tools {

/// Shows pages on the terminal's second screen and reads single keys; what was there before is back at the end, also
/// after SIGINT, SIGTERM and SIGHUP, which read as the key 'q'.  One at a time, in the main thread.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Replaces what is shown; lines beyond the terminal's height are left out.
  void show(const std::string& page);
  /// Waits for a key for so long.  0: none came; resized(): the terminal has another size now.
  char key(double seconds);
  bool resized();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace effort::tools
