// Any values are decoded within the bound they were encoded for.
#include "analytics/codec/history.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using namespace effort::codec;

/// Root mean square difference relative to the range, scaled so that nothing overflows.
double nrmse(const std::vector<double>& a, const std::vector<double>& b) {
  const auto [low, high] = std::minmax_element(a.begin(), a.end());
  double unit = *high / 4 - *low / 4;
  if (unit == 0) unit = std::max(std::abs(*high), std::abs(*low)) / 4;
  if (unit == 0) unit = 1;
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow((a[i] / 4 - b[i] / 4) / unit, 2);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

/// The first bytes choose shape, target and coder; the others are the values, as doubles or as small integers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool started = [] {
    Kokkos::initialize();
    return true;
  }();
  (void)started;
  if (size < 4) return 0;
  const std::size_t cols = 1 + data[0] % 40;
  const double bound = std::pow(10.0, -1 - data[1] % 9);
  const bool doubles = data[2] & 1;
  const Coder coder = data[2] & 2 ? Coder::ezw : Coder::context;
  data += 3;
  size -= 3;
  std::vector<double> values;
  for (std::size_t i = 0; i + (doubles ? 8 : 1) <= size; i += doubles ? 8 : 1) {
    double v = data[i];
    if (doubles) std::memcpy(&v, data + i, 8);
    if (!std::isfinite(v)) return 0;
    values.push_back(v);
  }
  const std::size_t rows = values.size() / cols;
  values.resize(rows * cols);
  if (values.empty()) return 0;
  // Denormals are multiples of the smallest one, so a finer bound can only be met exactly.
  double largest = 0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  const double slack = largest > 0 && largest < 1e-290 ? 1e-3 : 0;
  const auto back = decode(encode(values, rows, cols, Target::nrmse(bound), coder));
  require(back.values.size() == values.size() && nrmse(values, back.values) <= bound * (1 + 1e-9) + slack);
  History history(rows, Target::nrmse(bound));
  history.append(values, cols);
  history.append(values, cols);
  const auto bytes = history.serialize_final();
  require(HistoryReader(bytes).steps() == 2 * cols);
  return 0;
}
