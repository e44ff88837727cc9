// A terminal in full-screen mode.
#pragma once

#include <memory>
#include <string>

namespace effort::tools {

/// Shows pages on the terminal's alternate screen and reads single keys.  The previous contents are restored at the
/// end, also after SIGINT, SIGTERM and SIGHUP, which act as the key 'q'.  One at a time, in the main thread.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Replaces the page; lines beyond the terminal's height are omitted.
  void show(const std::string& page);
  /// Waits for a key.  0: none within the time; resized(): the terminal has another size now.
  char key(double seconds);
  bool resized();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace effort::tools
