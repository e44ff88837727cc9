// Raw matrices on disk: little-endian float64, C order, nothing else in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace effort::tools {

/// Reads rows x cols finite numbers.  Errors: std::runtime_error naming file and remedy, if the file has
/// another number of bytes, or contains a NaN or infinity (with row, column and byte).
std::vector<double> read_raw(const std::filesystem::path& path, std::size_t rows, std::size_t cols);

/// The same for [outer][rows][cols]; messages then name the outer index too, as `outer_name`.
std::vector<double> read_raw_cube(const std::filesystem::path& path, std::size_t outer, const char* outer_name,
                                  std::size_t rows, std::size_t cols);

/// One integer per line, `count` lines.  Errors: std::runtime_error naming file and line.
std::vector<std::int32_t> read_integers(const std::filesystem::path& path, std::size_t count);

/// A whole file.  Errors: std::system_error.
std::vector<std::byte> read_bytes(const std::filesystem::path& path);

/// Runs an algorithm on data from `path`, and adds the file's name to its messages about bad input.
template <typename Function>
auto on_data_of(const std::filesystem::path& path, Function&& function) {
  try {
    return function();
  } catch (const std::invalid_argument& e) {
    throw std::runtime_error(std::string(e.what()) + " (file '" + path.string() + "')");
  }
}

}  // namespace effort::tools
