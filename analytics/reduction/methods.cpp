#include "analytics/reduction/methods.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>

#include "analytics/number_text.hpp"

namespace effort::reduction {

namespace {

struct Named {
  std::string_view name;
  double threshold;
};
constexpr std::array<Named, n_similarities> all = {{{"relDiff", 0.8},
                                                    {"absDiff", 1000},
                                                    {"Manhattan", 0.4},
                                                    {"Euclidean", 0.2},
                                                    {"Chebyshev", 0.2},
                                                    {"iter_k", 10},
                                                    {"iter_avg", 0},
                                                    {"avgWave", 0.2},
                                                    {"haarWave", 0.2},
                                                    {"bounded", 0.2}}};

bool same_letter(char a, char b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return lower(a) == lower(b);
}

}  // namespace

std::string_view similarity_text(Similarity s) { return all[static_cast<std::size_t>(s)].name; }
double default_threshold(Similarity s) { return all[static_cast<std::size_t>(s)].threshold; }

std::vector<double> studied_thresholds(Similarity s) {
  switch (s) {
    case Similarity::abs_diff: return {1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
    case Similarity::iter_k: return {1, 10, 50, 100, 500, 1000};
    case Similarity::iter_avg: return {0};
    case Similarity::bounded: return {0.05, 0.1, 0.2, 0.5, 1, 2};
    default: return {0.1, 0.2, 0.4, 0.6, 0.8, 1.0};
  }
}

std::string method_text(const Method& method) {
  std::string out(similarity_text(method.similarity));
  if (method.similarity == Similarity::iter_avg) return out;
  return out + ":" + number_text(method.threshold);
}

std::optional<Method> method_from(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!std::equal(name.begin(), name.end(), all[i].name.begin(), all[i].name.end(), same_letter)) continue;
    Method out{static_cast<Similarity>(i), all[i].threshold};
    if (colon == std::string::npos) return out;
    if (out.similarity == Similarity::iter_avg) return std::nullopt;
    const char *const first = text.data() + colon + 1, *const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(first, last, out.threshold);
    if (error != std::errc{} || end != last || !std::isfinite(out.threshold) || out.threshold <= 0) return std::nullopt;
    if (out.similarity == Similarity::iter_k && (out.threshold != std::floor(out.threshold) || out.threshold > 1e9))
      return std::nullopt;
    return out;
  }
  return std::nullopt;
}

void transform(std::span<double> values, bool haar, std::vector<double>& means) {
  const double scale = haar ? std::numbers::sqrt2 / 2 : 0.5;
  means.assign(values.begin(), values.end());
  for (std::size_t n = values.size(); n > 1; n /= 2) {
    for (std::size_t i = 0; i < n / 2; ++i) {
      const double first = means[2 * i], second = means[2 * i + 1];
      values[n / 2 + i] = (second - first) * scale;
      means[i] = (first + second) * scale;
    }
  }
  if (!values.empty()) values[0] = means[0];
}

}  // namespace effort::reduction
