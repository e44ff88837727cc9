// Tables of distances, and rows of objects in either precision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace effort::cluster {

/// Objects in a tile, which kernels process side by side.
inline constexpr std::size_t lanes = 16;

constexpr std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// Distances of `rows` objects (those that count in the objective) to `columns` candidates; row-major.
template <typename T>
class Table {
 public:
  /// Leaves the values unset.  Throws std::bad_alloc.
  Table(std::size_t rows, std::size_t columns);

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  /// A multiple of `lanes`: tiles of columns are whole.
  std::size_t stride() const { return stride_; }
  T* row(std::size_t j) { return values_.get() + j * stride_; }
  const T* row(std::size_t j) const { return values_.get() + j * stride_; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::size_t rows_, columns_, stride_;
  std::unique_ptr<T[], Free> values_;
};

using DistanceTable = Table<double>;

/// Borrowed rows, as Signatures, of either precision.
template <typename T>
struct RowsOf {
  const T* values = nullptr;
  std::size_t n = 0;
  std::size_t d = 0;

  const T* row(std::size_t i) const { return values + i * d; }
};

/// The rows of the given objects, one after the other.
template <typename T>
std::vector<T> rows_of(const RowsOf<T>& objects, const std::vector<std::int32_t>& ids) {
  std::vector<T> rows;
  rows.reserve(ids.size() * objects.d);
  for (const std::int32_t id : ids) {
    const T* row = objects.row(static_cast<std::size_t>(id));
    rows.insert(rows.end(), row, row + objects.d);
  }
  return rows;
}

}  // namespace effort::cluster
