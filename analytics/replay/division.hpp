// Recorded loads under other divisions of the work, made by rebalancers of several kinds.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace effort::replay {

/// A model of a rebalancer, which divides the work by predicted loads.
struct Rebalancer {
  enum class Kind {
    ideal,    ///< every rank gets the mean
    bounded,  ///< every rank moves a share `amount` of the way to the mean
    noisy,    ///< every rank gets the mean times a normal deviate around 1, of deviation `amount`
    blocks    ///< a rank's load consists of `amount` equal pieces, which move as a whole
  };
  Kind kind = Kind::ideal;
  double amount = 0;
};
/// "ideal", "bounded:0.3", "noisy:0.1", "blocks:16".
/// @throws std::invalid_argument that names the allowed forms
Rebalancer parse_rebalancer(std::string_view text);

/// The price of a rebalance.  Part of it may be in proportion to the load moved: mesh and particles have to be sent.
struct Price {
  double seconds = 0;  ///< of a rebalance that moves one mean load
  double moving = 0;   ///< share of it that is in proportion to the load moved, 0 to 1

  /// @param moved  see Division::rebalance
  double of(double moved) const { return seconds * (1 - moving + moving * moved); }
};

/// The least load by which work is divided, as a share of the mean: no load is multiplied by more than 20.
constexpr double smallest_share = 0.05;

/// A recorded run, summed over its regions.
class Recording {
 public:
  /// @param load    [ranks][steps] seconds, finite, >= 0
  /// @param copies  [ranks] number of equal ranks that each represents, >= 0 (at least one > 0); empty: one each
  /// @throws std::invalid_argument that names the problem
  Recording(std::vector<double> load, int ranks, std::int64_t steps, std::span<const std::int64_t> copies = {});

  int ranks() const { return ranks_; }
  std::int64_t steps() const { return steps_; }
  double at(int rank, std::int64_t step) const {
    return load_[static_cast<std::size_t>(rank) * static_cast<std::size_t>(steps_) + static_cast<std::size_t>(step)];
  }
  double copies(int rank) const { return copies_[static_cast<std::size_t>(rank)]; }
  double n_ranks() const { return n_ranks_; }  ///< including copies
  /// Load of a step, summed over all ranks including copies, seconds.
  double total(std::int64_t step) const { return total_[static_cast<std::size_t>(step)]; }
  /// Mean over ranks and steps, seconds: the unit of prices.
  double mean_step() const;
  /// Mean of each rank's load over the `width` steps before `end`, [ranks].
  std::vector<double> mean_before(std::int64_t end, std::int64_t width) const;

 private:
  int ranks_;
  std::int64_t steps_;
  std::vector<double> load_, copies_, total_;
  double n_ranks_ = 0;
};

/// The present division of the work.  It changes the ranks' loads but keeps each step's recorded total.
class Division {
 public:
  Division(const Recording& recording, Rebalancer rebalancer);

  /// [ranks] loads in a step, seconds.
  void loads(std::int64_t step, std::vector<double>& out) const;
  /// Divides the work again.
  /// @param load      [ranks] predicted loads under the present division, >= 0
  /// @param recorded  [ranks] relative cost of the recorded ranks' work; pieces share their owner's load in this
  ///                  proportion
  /// @return the load moved, in mean loads: the most that one rank gives away or takes
  double rebalance(std::span<const double> load, std::span<const double> recorded);
  /// Applies the division to recorded values of one step, one per rank, such as a region's loads.
  void divide(std::span<const double> recorded, std::int64_t step, std::span<double> out) const;

 private:
  std::vector<double> weigh(std::span<const double> load, double mean);
  std::vector<double> move_pieces(std::span<const double> load, std::span<const double> recorded);
  double scale(std::int64_t step) const;

  const Recording* recording_;
  Rebalancer rebalancer_;
  std::vector<double> weight_;  // [ranks]
  std::vector<int> owner_;  // [ranks * pieces] rank that holds the piece; empty: weights alone describe the division
  std::mt19937_64 random_{1};
};

}  // namespace effort::replay
