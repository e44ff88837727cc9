// An HDF5 file in the layout of netCDF-4: dimensions that are coordinates, variables along them, attributes.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace effort::tools::hdf5 {

/// A handle of HDF5 with the function that closes it.
class Handle {
 public:
  /// @param problem  completes the message "HDF5 cannot ..." of the std::runtime_error for an id < 0
  Handle(hid_t id, herr_t (*closer)(hid_t), const char* problem);
  ~Handle();
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle& operator=(Handle&&) = delete;
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor): stands in for the id in HDF5's calls
  /// Reports a full disk, which shows only when the file is closed, as std::runtime_error.
  void close(const char* problem);

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// A negative result is std::runtime_error "HDF5 cannot <problem>".
void require(herr_t result, const char* problem);

/// No shape: a scalar.
Handle space_of(const std::vector<hsize_t>& shape);

/// Attributes of a file or dataset; text that is not valid UTF-8 is repaired.
void put(hid_t object, const char* name, const std::string& value);
void put(hid_t object, const char* name, double value);
void put(hid_t object, const char* name, std::int64_t value);

/// The file being written and the dimensions that its datasets share.  Errors of every member: std::runtime_error.  One
/// at a time, because HDF5's own messages are switched off for the process.
class File {
 public:
  explicit File(const std::filesystem::path& path);
  hid_t id() const { return id_; }
  void close();

  /// A coordinate: a dataset of one dimension that carries the dimension's name.
  template <typename T>
  void add_dimension(const std::string& name, const std::vector<T>& values, const std::string& meaning) {
    taken_.insert(name);
    make_scale(name, write_values(name, values), meaning);
  }
  /// Numbers or text along one dimension.
  template <typename T>
  void add_values(const std::string& name, const std::string& dimension, const std::vector<T>& values,
                  const std::string& meaning, const std::string& unit = "") {
    taken_.insert(name);
    finish_values(write_values(name, values), dimension, meaning, unit);
  }
  /// Makes a dataset one along these dimensions, slowest first.
  void attach(hid_t dataset, const std::vector<std::string>& names);
  /// A name that no other dataset has; '/' would make a group.
  std::string free_name(std::string name);

 private:
  static Handle create(const std::filesystem::path& path);
  Handle write_numbers(const std::string& name, hid_t stored, hid_t in_memory, const void* values, std::size_t size);
  Handle write_values(const std::string& name, const std::vector<double>& values);
  Handle write_values(const std::string& name, const std::vector<std::int32_t>& values);
  Handle write_values(const std::string& name, const std::vector<std::int64_t>& values);
  Handle write_values(const std::string& name, const std::vector<std::string>& values);
  void make_scale(const std::string& name, Handle dataset, const std::string& meaning);
  void finish_values(const Handle& dataset, const std::string& dimension, const std::string& meaning,
                     const std::string& unit);

  Handle id_;
  std::vector<std::pair<std::string, Handle>> dimensions_;
  std::set<std::string> taken_;
};

}  // namespace effort::tools::hdf5
