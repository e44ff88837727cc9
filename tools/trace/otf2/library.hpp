// Calls of the OTF2 library: its errors as exceptions, its handles released.
#pragma once

#include <otf2/otf2.h>

#include <string>

namespace effort::tools::otf2 {

/// During its lifetime, the library's error messages are kept instead of printed.  One at a time.
class Messages {
 public:
  Messages();
  ~Messages();
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  /// The first message since the last call, or nothing.
  std::string take();

 private:
  OTF2_ErrorCallback before_;
};

/// Unless `code` is success, throws std::runtime_error with file, the action `what`, and the library's reason.
void check(OTF2_ErrorCode code, Messages& messages, const std::string& file, const char* what);
[[noreturn]] void fail(OTF2_ErrorCode code, Messages& messages, const std::string& file, const char* what);

/// The archive property for information that OTF2 has no records for: how ranks were sampled.
inline constexpr const char* sampling_property = "EFFORT::SAMPLING";
/// Names of parameters for events that OTF2 has no records for.
inline constexpr const char* step_parameter = "effort step";
inline constexpr const char* phase_parameter = "effort phase";
inline constexpr const char* rebalance_parameter = "effort rebalance";
/// Description of metrics that are amounts of work.
inline constexpr const char* work_description = "effort work";

}  // namespace effort::tools::otf2
