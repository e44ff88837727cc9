// Generated objects of many kinds, by which the quality mode is judged in its test and in bench/cluster.
#pragma once

#include "analytics/cluster/kmedoids.hpp"
#include "analytics/sampling/draw.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace effort::cluster::test {

/// The parameters of generated objects.
struct Kind {
  enum class Form { groups, student, lognormal, outliers, line, ring, front, integers, duplicates };
  Form form = Form::groups;
  int groups = 1;
  double separation = 0;  ///< deviation of the groups' centres in deviations of their members
  bool unequal = false;   ///< groups of sizes 1 to 100

  std::string name() const {
    static constexpr std::array<const char*, 9> names = {"groups", "student", "lognormal", "outliers",  "line",
                                                         "ring",   "front",   "integers",  "duplicates"};
    std::string result = names[static_cast<std::size_t>(form)];
    if (form == Form::groups || form == Form::outliers || form == Form::integers)
      result += " " + std::to_string(groups) + " x " + std::to_string(separation).substr(0, 4);
    return unequal ? result + " 1:100" : result;
  }
};

/// The kinds of objects that the quality mode must cluster well.
inline std::vector<Kind> all_kinds() {
  using Form = Kind::Form;
  std::vector<Kind> kinds = {{Form::groups, 1, 0, false}};
  for (const int groups : {5, 20})
    for (const double separation : {1.0, 3.0, 10.0}) kinds.push_back({Form::groups, groups, separation, false});
  for (const double separation : {3.0, 10.0}) kinds.push_back({Form::groups, 12, separation, true});
  kinds.push_back({Form::outliers, 6, 3, false});
  kinds.push_back({Form::integers, 6, 2, false});
  for (const Form form : {Form::student, Form::lognormal, Form::line, Form::ring, Form::front, Form::duplicates})
    kinds.push_back({form, 1, 0, false});
  return kinds;
}

/// Makes the objects of one kind.
class Maker {
 public:
  Maker(const Kind& kind, std::size_t d, unsigned seed) : kind_(kind), d_(d), random_(seed) {
    const std::size_t centres = kind.form == Kind::Form::duplicates ? 37 : static_cast<std::size_t>(kind.groups);
    for (std::size_t i = 0; i < centres * d; ++i)
      centres_.push_back((kind.form == Kind::Form::duplicates ? 1.0 : kind.separation) * normal_(random_));
    for (int i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < d; ++j) directions_.push_back(normal_(random_));
    std::vector<double> weights;
    for (std::size_t i = 0; i < centres; ++i)
      weights.push_back(kind.unequal ? std::pow(100.0, static_cast<double>(i) / static_cast<double>(centres - 1))
                                     : 1.0);
    group_ = std::discrete_distribution<std::size_t>(weights.begin(), weights.end());
  }

  std::vector<double> objects(std::size_t n) {
    std::vector<double> values;
    values.reserve(n * d_);
    for (std::size_t i = 0; i < n; ++i) add(values);
    return values;
  }

 private:
  using Form = Kind::Form;

  void add(std::vector<double>& values) {
    switch (kind_.form) {
      case Form::line: return add_along(values, uniform_(random_), 0, 0, 0.02);
      case Form::ring: {
        const double angle = 6.283185307179586 * uniform_(random_);
        return add_along(values, std::cos(angle), std::sin(angle), 0, 0.05);
      }
      case Form::front: {  // a sheet with a step along a curve, like a wave that runs through the ranks
        const double x = uniform_(random_), y = uniform_(random_);
        return add_along(values, x, y, std::tanh(8 * (x * x + y * y - 0.5)), 0.02);
      }
      case Form::duplicates: return add_group(values, 0, 1);
      case Form::student: return add_group(values, 1, 1 / std::sqrt(-std::log(1 - uniform_(random_))));
      case Form::outliers: return add_group(values, 1, uniform_(random_) < 0.003 ? 1000 * uniform_(random_) : 1);
      default: return add_group(values, 1, 1);
    }
  }

  void add_along(std::vector<double>& values, double a, double b, double c, double noise) {
    for (std::size_t j = 0; j < d_; ++j)
      values.push_back(a * directions_[j] + b * directions_[d_ + j] + c * directions_[2 * d_ + j] +
                       noise * normal_(random_));
  }

  void add_group(std::vector<double>& values, double noise, double factor) {
    const std::size_t group = group_(random_);
    for (std::size_t j = 0; j < d_; ++j) {
      const double value = centres_[group * d_ + j] + factor * noise * normal_(random_);
      values.push_back(kind_.form == Form::lognormal  ? std::exp(1.5 * value)
                       : kind_.form == Form::integers ? std::round(value)
                                                      : value);
    }
  }

  Kind kind_;
  std::size_t d_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  std::discrete_distribution<std::size_t> group_;
  std::vector<double> centres_, directions_;
};

/// The least mean cost of several runs of eager swaps on all pairs, from BUILD and then from random medoids.
inline double best_of_runs(const Signatures& objects, int k, int runs) {
  const KernelsOn<Kokkos::Serial> kernels(Kokkos::Serial{});
  const DistanceTable all = kernels.all_distances(objects);
  double best = std::numeric_limits<double>::max();
  for (int run = 0; run < runs; ++run) {
    auto medoids = run == 0 ? build_medoids(kernels, all, k)
                            : sampling::draw_without_replacement(static_cast<std::int64_t>(objects.n), k, 77,
                                                                 static_cast<std::uint64_t>(run));
    swap_medoids(kernels, all, medoids, SwapRule::eager, std::numeric_limits<int>::max());
    double cost = 0;
    for (std::size_t j = 0; j < objects.n; ++j) {
      double nearest = std::numeric_limits<double>::max();
      for (const std::int32_t medoid : medoids) nearest = std::min(nearest, all.row(j)[medoid]);
      cost += nearest;
    }
    best = std::min(best, cost / static_cast<double>(objects.n));
  }
  return best;
}

}  // namespace effort::cluster::test
