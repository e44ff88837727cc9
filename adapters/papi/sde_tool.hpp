// libsde's interface for tools, through which PAPI's own component reads software-defined events.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace effort::adapters {

/// Reads software-defined events directly, at half the cost of PAPI_read.  The values are those of PAPI_read while an
/// event set with these events runs: counts are relative to that set's start.
class SdeTool {
 public:
  /// @param events  names as PAPI knows them ("sde:::LIBRARY::COUNTER")
  /// @return false if libsde cannot be reached or lacks the interface (PAPI before 7.0); use PAPI_read then
  bool open(const std::vector<std::string>& events);
  bool is_open() const noexcept { return read_ != nullptr; }

  /// Current values in the order of the events; -1 for one that is not registered, as in PAPI.  An event that was
  /// unregistered must not be read any more, neither here nor by PAPI_read, because libsde (PAPI 7.0) accesses freed
  /// memory.  No lock.
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
