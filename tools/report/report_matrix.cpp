#include "tools/report/report_matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>

#include "analytics/codec/bytes.hpp"
#include "tools/report/report_data.hpp"

namespace effort::tools {

using nlohmann::ordered_json;

namespace {

struct Quantity {
  const char* name;
  double PairTraffic::*value;
};
constexpr std::array<Quantity, 4> quantities = {{{"messages", &PairTraffic::messages},
                                                 {"bytes", &PairTraffic::bytes},
                                                 {"seconds", &PairTraffic::seconds},
                                                 {"waiting", &PairTraffic::waiting}}};

std::span<const Quantity> shown(bool waiting) { return {quantities.data(), waiting ? std::size_t{4} : std::size_t{3}}; }

std::vector<std::byte> places(const std::vector<PairTraffic>& cells) {
  std::vector<std::byte> out;
  std::int64_t row = -1;
  for (std::size_t i = 0; i < cells.size();) {
    std::size_t end = i;
    while (end < cells.size() && cells[end].a == cells[i].a) ++end;
    codec::put_varint(out, static_cast<std::uint64_t>(cells[i].a - row));
    codec::put_varint(out, end - i);
    row = cells[i].a;
    for (std::int64_t column = -1; i < end; ++i) {
      codec::put_varint(out, static_cast<std::uint64_t>(cells[i].b - column));
      column = cells[i].b;
    }
  }
  return out;
}

ordered_json column(const std::vector<PairTraffic>& cells, double PairTraffic::*value) {
  std::map<double, std::size_t> distinct;
  for (const PairTraffic& c : cells) {
    distinct.emplace(c.*value, 0);
    if (distinct.size() > 256) break;
  }
  if (distinct.size() <= 256) {
    ordered_json values = ordered_json::array();
    for (auto& [v, index] : distinct) index = values.size(), values.push_back(v);
    std::vector<std::byte> codes;
    for (const PairTraffic& c : cells) codes.push_back(static_cast<std::byte>(distinct[c.*value]));
    return {{"distinct", std::move(values)}, {"values", base64(codes)}};
  }
  double low = 0, high = 0;
  for (const PairTraffic& c : cells) {
    const double v = c.*value;
    if (!(v > 0)) continue;
    low = low > 0 ? std::min(low, v) : v;
    high = std::max(high, v);
  }
  const double from = std::log2(low), range = std::log2(high) - from;
  std::vector<std::uint16_t> codes;
  for (const PairTraffic& c : cells) {
    const double v = c.*value;
    codes.push_back(v > 0 ? static_cast<std::uint16_t>(1.5 + 65534 * (std::log2(v) - from) / std::max(range, 1e-12))
                          : std::uint16_t{0});
  }
  return {{"low", low}, {"high", high}, {"values", base64(std::as_bytes(std::span(codes)))}};
}

ordered_json pack(const std::vector<PairTraffic>& cells, bool waiting) {
  ordered_json out = {{"cells", cells.size()}, {"rows", base64(places(cells))}};
  for (const Quantity& q : shown(waiting)) out[q.name] = column(cells, q.value);
  return out;
}

std::size_t size_of(const ordered_json& packed, bool waiting) {
  std::size_t out = packed["rows"].get_ref<const std::string&>().size();
  for (const Quantity& q : shown(waiting)) out += packed[q.name]["values"].get_ref<const std::string&>().size();
  return out;
}

ordered_json sums(const std::vector<PairTraffic>& cells) {
  ordered_json out;
  for (const Quantity& q : quantities) {
    double sum = 0;
    for (const PairTraffic& c : cells) sum += c.*q.value;
    out[q.name] = sum;
  }
  return out;
}

/// The `n` largest cells, in their order.
std::vector<PairTraffic> largest(const std::vector<PairTraffic>& cells, const ordered_json& totals, std::size_t n) {
  std::vector<double> share(cells.size());
  for (const Quantity& q : quantities) {
    const double total = totals[q.name];
    for (std::size_t i = 0; i < cells.size() && total > 0; ++i)
      share[i] = std::max(share[i], cells[i].*q.value / total);
  }
  std::vector<std::size_t> order(cells.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return share[x] > share[y]; });
  order.resize(std::min(n, order.size()));
  std::sort(order.begin(), order.end());
  std::vector<PairTraffic> out;
  for (const std::size_t i : order) out.push_back(cells[i]);
  return out;
}

}  // namespace

ordered_json sparse_json(const std::vector<PairTraffic>& cells, bool waiting, std::size_t most_bytes) {
  const ordered_json totals = sums(cells);
  std::vector<PairTraffic> kept = cells;
  ordered_json out = pack(kept, waiting);
  for (std::size_t bytes = size_of(out, waiting); bytes > most_bytes && !kept.empty(); bytes = size_of(out, waiting)) {
    const double fits = 0.98 * static_cast<double>(most_bytes) / static_cast<double>(bytes);
    kept = largest(cells, totals, static_cast<std::size_t>(fits * static_cast<double>(kept.size())));
    out = pack(kept, waiting);
  }
  out["totals"] = totals;
  ordered_json& left = out["left_out"] = {{"cells", cells.size() - kept.size()}};
  const ordered_json there = sums(kept);
  for (const Quantity& q : quantities)
    left[q.name] = std::max(0.0, totals[q.name].get<double>() - there[q.name].get<double>());
  return out;
}

}  // namespace effort::tools
