#include "analytics/communication/pair_details.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analytics/communication/outliers.hpp"
#include "analytics/communication/pairs.hpp"

namespace effort::communication {

namespace {

struct WeightedSlope {
  double slope, weight;
};

double weighted_median(std::vector<WeightedSlope> slopes) {
  std::sort(slopes.begin(), slopes.end(), [](const auto& x, const auto& y) { return x.slope < y.slope; });
  double total = 0, below = 0;
  for (const WeightedSlope& s : slopes) total += s.weight;
  for (const WeightedSlope& s : slopes) {
    below += s.weight;
    if (2 * below >= total) return s.slope;
  }
  return 0;
}

/// Deviations from the fit, ns.
std::vector<double> residuals(const TransferFit& fit, std::span<const std::uint64_t> bytes,
                              std::span<const double> ns) {
  std::vector<double> out;
  for (std::size_t i = 0; i < ns.size(); ++i)
    out.push_back(ns[i] - fit.latency_ns - fit.ns_per_byte * static_cast<double>(bytes[i]));
  return out;
}

/// Modified Z-scores; of fewer than 5 values, zeros.
std::vector<double> modified_z(const std::vector<double>& values) {
  return values.size() < 5 ? std::vector<double>(values.size(), 0) : modified_z_scores(values);
}

}  // namespace

TransferFit fit_transfers(std::span<const std::uint64_t> bytes, std::span<const double> ns) {
  TransferFit out;
  if (ns.empty()) return out;
  std::map<std::uint64_t, std::vector<double>> by_size;
  for (std::size_t i = 0; i < ns.size(); ++i) by_size[bytes[i]].push_back(ns[i]);
  struct Size {
    double bytes, ns, messages;
  };
  std::vector<Size> sizes;
  constexpr std::size_t most_sizes = 256;
  std::size_t at = 0;
  for (const auto& [size, times] : by_size) {
    const bool chosen = at * most_sizes / by_size.size() != (at + 1) * most_sizes / by_size.size();
    if (by_size.size() <= most_sizes || chosen)
      sizes.push_back({static_cast<double>(size), median(times), static_cast<double>(times.size())});
    ++at;
  }
  std::vector<WeightedSlope> slopes;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    for (std::size_t j = i + 1; j < sizes.size(); ++j)
      slopes.push_back({(sizes[j].ns - sizes[i].ns) / (sizes[j].bytes - sizes[i].bytes),
                        std::min(sizes[i].messages, sizes[j].messages)});
  out.ns_per_byte = slopes.empty() ? 0 : std::max(0.0, weighted_median(slopes));
  out.known = out.ns_per_byte > 0;
  out.latency_ns = std::max(0.0, median(residuals(out, bytes, ns)));
  std::vector<double> away = residuals(out, bytes, ns);
  for (double& value : away) value = std::abs(value);
  out.spread_ns = median(away);
  return out;
}

namespace {

class Details {
 public:
  Details(const Record& record, std::int32_t a, std::int32_t b, const std::vector<std::uint32_t>& path_of_call)
      : record_(record), path_of_call_(path_of_call), a_(a), b_(b) {}

  PairDetails run() {
    for (std::size_t i = 0; i < record_.messages.size(); ++i) {
      const Message& m = record_.messages[i];
      const bool from_a = m.sender == a_ && m.receiver == b_, from_b = m.sender == b_ && m.receiver == a_;
      if (from_a || from_b) out_.messages.push_back({i, from_a, message_ns(record_, m), false});
    }
    fit();
    pack();
    return std::move(out_);
  }

 private:
  void fit() {
    std::vector<std::uint64_t> bytes;
    std::vector<double> ns;
    for (const PairMessage& m : out_.messages) {
      if (m.ns < 0) continue;
      bytes.push_back(record_.messages[m.message].bytes);
      ns.push_back(static_cast<double>(m.ns));
    }
    out_.fit = fit_transfers(bytes, ns);
    const std::vector<double> z = modified_z(residuals(out_.fit, bytes, ns));
    constexpr double cutoff = 3.5;
    std::size_t at = 0;
    for (PairMessage& m : out_.messages)
      if (m.ns >= 0) m.outlier = z[at++] > cutoff;
  }

  /// The position of a rank in its run when it sent: the number of steps or collectives it had begun.
  std::vector<std::int64_t> marks_of(std::int32_t rank) const {
    std::vector<std::int64_t> out;
    for (const Step& step : record_.steps)
      if (step.rank == rank) out.push_back(step.begin_ns);
    if (out.empty())
      for (const Location& location : record_.locations)
        for (std::size_t c = location.first_call; location.rank == rank && c < location.end_call; ++c)
          if (is_collective(record_.calls[c].operation)) out.push_back(record_.calls[c].begin_ns);
    std::sort(out.begin(), out.end());
    return out;
  }

  void pack() {
    const double knee = out_.fit.knee_bytes();
    if (knee <= 0) return;
    const std::vector<std::int64_t> marks[2] = {marks_of(b_), marks_of(a_)};
    std::map<std::pair<bool, std::size_t>, Pack> groups;  // by sender and step
    for (const PairMessage& m : out_.messages) {
      const Message& message = record_.messages[m.message];
      if (message.send_start == none || static_cast<double>(message.bytes) >= knee) continue;
      const std::int64_t begin = record_.calls[message.send_start].begin_ns;
      const auto& of = marks[m.from_a ? 1 : 0];
      const auto step = static_cast<std::size_t>(std::upper_bound(of.begin(), of.end(), begin) - of.begin());
      Pack& group = groups[{m.from_a, step}];
      if (group.messages == 0) group = {m.from_a, path_of_call_[message.send_start], 1, 0, 0, 0};
      ++group.messages;
      group.bytes += message.bytes;
    }
    std::map<std::pair<bool, std::uint32_t>, Pack> sums;
    for (const auto& [key, group] : groups) {
      if (group.messages < 2) continue;
      Pack& sum = sums.try_emplace({group.from_a, group.path}, Pack{group.from_a, group.path}).first->second;
      ++sum.packs;
      sum.messages += group.messages;
      sum.bytes += group.bytes;
      sum.gain_ns += static_cast<double>(group.messages - 1) * out_.fit.latency_ns;
    }
    for (const auto& [key, sum] : sums) out_.packs.push_back(sum);
    std::stable_sort(out_.packs.begin(), out_.packs.end(),
                     [](const Pack& x, const Pack& y) { return x.gain_ns > y.gain_ns; });
  }

  const Record& record_;
  const std::vector<std::uint32_t>& path_of_call_;
  std::int32_t a_, b_;
  PairDetails out_;
};

}  // namespace

PairDetails pair_details(const Record& record, std::int32_t a, std::int32_t b,
                         const std::vector<std::uint32_t>& path_of_call) {
  return Details(record, a, b, path_of_call).run();
}

}  // namespace effort::communication
