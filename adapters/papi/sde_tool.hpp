// libsde's interface for tools: what PAPI's own component reads software-defined events through.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace effort::adapters {

/// Reads software-defined events where they lie, with the values that PAPI_read gives while an event set with them
/// runs (that set's start is what counts are relative to), but without PAPI's way there, which costs as much again.
class SdeTool {
 public:
  /// @param events  names as PAPI knows them ("sde:::LIBRARY::COUNTER")
  /// @return false where libsde cannot be reached, or lacks the interface (PAPI before 7.0): PAPI_read serves then
  bool open(const std::vector<std::string>& events);
  bool is_open() const noexcept { return read_ != nullptr; }

  /// Current values in the order of the events; -1 for one that nobody has registered, as in PAPI.  One that was taken
  /// back must not be read any more, neither here nor by PAPI_read: libsde (PAPI 7.0) looks into what it has freed.  No
  /// lock.
  /// @return whether all gave a value
  bool read(long long* values) const noexcept {
    bool all = true;
    for (const std::uint32_t id : ids_) {
      if (__builtin_expect(read_(id, values) != 0, 0)) *values = -1;
      all &= *values++ != -1;
    }
    return all;
  }

 private:
  int (*read_)(std::uint32_t id, long long* value) = nullptr;
  std::vector<std::uint32_t> ids_;
};

}  // namespace effort::adapters
