#include "analytics/cluster/table.hpp"

#include <algorithm>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace effort::cluster {

template <typename T>
Table<T>::Table(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns) {
  constexpr std::size_t page = 4096, huge_page = std::size_t{1} << 21;
  stride_ = ceil_div(columns, lanes) * lanes;
  if (stride_ * sizeof(T) % page == 0) stride_ += lanes;  // avoids mapping all rows to the same cache sets
  std::size_t bytes = std::max<std::size_t>(rows * stride_ * sizeof(T), 64);
  const std::size_t alignment = bytes >= 4 * huge_page ? huge_page : 64;
  bytes = ceil_div(bytes, alignment) * alignment;
  values_.reset(static_cast<T*>(std::aligned_alloc(alignment, bytes)));
  if (!values_) throw std::bad_alloc();
#ifdef __linux__
  if (alignment == huge_page) madvise(values_.get(), bytes, MADV_HUGEPAGE);  // a hint; failure only costs time
#endif
}

template class Table<double>;
template class Table<float>;

}  // namespace effort::cluster
