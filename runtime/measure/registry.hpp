// The names of a process's regions, phases, units of work and metrics.
#pragma once

#include "runtime/status.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace effort::measure {

enum class Kind : std::uint8_t { compute = 0, comm = 1, wait = 2, io = 3 };
/// `module`: a file that call paths point into; `note`: a line for the snapshot's notes; `communicator`: of MPI, in the
/// records of messages.
enum class Definition : std::uint8_t {
  region = 0,
  phase = 1,
  unit = 2,
  metric = 3,
  module = 4,
  note = 5,
  communicator = 6
};

inline constexpr std::uint32_t max_regions = 16383;
inline constexpr std::size_t max_name = 1023;

/// One definition; definitions are kept in the order in which the process made them.
struct Defined {
  Definition what;
  std::uint32_t id;  ///< region: from 1; others from 0
  Kind kind;         ///< of a region
  std::string name;
  std::string unit;  ///< of a metric; of a module: build id in hexadecimal, a space, full path; of a communicator:
                     ///< its members (runtime/recording/members.hpp)
};

/// Throws Error(invalid_argument) unless the name has 1 to max_name bytes and no control characters.
void check_name(const char* name, const char* of_what);

/// Maps names to dense ids, separately for each kind of definition.  Thread-safe (one lock); ids are permanent.
class Registry {
 public:
  struct Found {
    std::uint32_t id;
    bool conflict;  ///< registered before with another kind (or unit), which it keeps
  };

  /// @throws Error(invalid_argument) for a bad name, Error(limit) beyond the limits of the C header
  Found region(const char* name, Kind kind);
  /// The id of a registered region; 0 if there is none of that name.
  std::uint32_t find_region(const char* name) const;
  /// Marks the id of a region as known to the host.  Adapters register regions of their own.
  void give_to_host(std::uint32_t region) noexcept { hosts_[region].store(true, std::memory_order_release); }
  /// Whether the host knows the region's id; accepts any number.
  bool host_has(std::int32_t region) const noexcept {
    const auto id = static_cast<std::uint32_t>(region);
    return id < hosts_.size() && hosts_[id].load(std::memory_order_acquire);
  }
  std::uint32_t phase(const char* name);
  std::uint32_t unit(const char* name);
  Found metric(const char* name, const char* unit);
  /// As metric(), for a metric that the application defines: from then on, the application may add to it.
  /// @throws Error(conflict) for the name of a metric of the library, whether or not it is measured in this run
  Found metric_of_application(const char* name, const char* unit);
  /// Whether the application has defined the metric; accepts any number.
  bool application_has(std::int32_t metric) const noexcept {
    return metric >= 0 && metric < 32 && (applications_metrics_.load(std::memory_order_acquire) >> metric & 1u) != 0;
  }
  /// @param identity  build id in hexadecimal (may be empty), a space, full path
  void module(const char* base_name, const char* identity);
  /// @param members  see runtime/recording/members.hpp; may be empty: unknown
  std::uint32_t communicator(const char* name, const char* members);
  /// A text that is added twice is kept once.
  void note(const char* text);
  /// Copies another registry's definitions except metrics, which depend on the settings.  If this registry is new, the
  /// ids stay the same.
  void take_over(const Registry& other);

  std::uint32_t n_regions() const noexcept { return n_regions_.load(std::memory_order_acquire); }
  std::uint32_t n_units() const noexcept { return n_units_.load(std::memory_order_acquire); }

  /// All definitions, starting with the `first`-th.
  std::vector<Defined> since(std::size_t first) const;
  std::size_t n_defined() const noexcept { return n_defined_.load(std::memory_order_acquire); }
  std::string region_name(std::uint32_t id) const;
  /// The region's kind; COMPUTE for an unknown id.  No lock.
  Kind region_kind(std::uint32_t id) const noexcept {
    return id < kinds_.size() ? kinds_[id].load(std::memory_order_relaxed) : Kind::compute;
  }

 private:
  struct Key {
    Definition what;
    std::string name;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& k) const noexcept {
      return std::hash<std::string>{}(k.name) * 4 + static_cast<std::size_t>(k.what);
    }
  };

  Found define(Definition what, const char* name, Kind kind, const char* unit);

  mutable std::mutex mutex_;
  std::unordered_map<Key, std::size_t, Hash> index_;  ///< into defined_
  std::vector<Defined> defined_;
  std::vector<std::size_t> regions_;                        ///< region id - 1 -> index into defined_
  std::array<std::atomic<Kind>, max_regions + 1> kinds_{};  ///< by region id
  std::array<std::atomic<bool>, max_regions + 1> hosts_{};  ///< by region id: the host knows it
  std::atomic<std::uint32_t> n_regions_{0}, n_phases_{0}, n_units_{0}, n_metrics_{0}, n_modules_{0}, n_notes_{0},
      n_communicators_{0};
  std::atomic<std::size_t> n_defined_{0};
  std::atomic<std::uint32_t> applications_metrics_{0};  ///< one bit each
};

}  // namespace effort::measure
