// C++ over the C API: scopes as regions.
#pragma once

#include <effort/effort.h>

namespace effort {

/// Opens a region for the lifetime of the object.
///
///     static const effort::RegionId solve("solve");
///     effort::Region in_solve(solve);
class RegionId {
 public:
  /// Registers the region, or finds it again; errors are recorded (effort_last_error), the id is then invalid and
  /// regions opened with it measure nothing.
  explicit RegionId(const char* name, effort_kind kind = EFFORT_COMPUTE) noexcept {
    if (effort_region(name, kind, &id_) != EFFORT_OK && id_ < 0) id_ = -1;
  }
  effort_region_id get() const noexcept { return id_; }

 private:
  effort_region_id id_ = -1;
};

class Region {
 public:
  explicit Region(effort_region_id id) noexcept : id_(id), open_(effort_begin(id) == EFFORT_OK) {}
  explicit Region(const RegionId& id) noexcept : Region(id.get()) {}
  ~Region() {
    if (open_) effort_end(id_);
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

 private:
  effort_region_id id_;
  bool open_;
};

}  // namespace effort
