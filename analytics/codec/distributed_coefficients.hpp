// Coefficients of matrices whose rows are distributed over nodes, and their transfer to the node that codes them.
#pragma once

#include "analytics/codec/context_body.hpp"
#include "analytics/codec/distributed_transform.hpp"
#include "analytics/codec/quantisation_search.hpp"

#include <map>
#include <vector>

namespace effort::codec {

/// The shape of the matrix of all nodes.
struct DistributedShape {
  std::vector<std::size_t> rows;  ///< [nodes]
  std::size_t cols = 0;
  std::size_t present = 0;  ///< of all nodes
  std::size_t all_rows() const;
};

class DistributedCoefficients final : public Coefficients {
 public:
  /// Collective.
  /// @param local   this node's rows, scaled as all nodes scale theirs
  /// @param groups  first node of every group
  DistributedCoefficients(Communicator& nodes, const DistributedShape& shape, const std::vector<int>& groups,
                          const Matrix& local);

  std::size_t values() const override { return shape_.all_rows() * shape_.cols; }
  std::size_t present() const override { return shape_.present; }
  double largest() const override { return largest_; }
  double first() const override { return first_; }
  const ErrorModel& model() const override { return model_; }
  void choose_splits(double step) override;
  Points choose_points(double step) override;
  Errors reconstruct(const QuantisationStep& step, const Points& points) override;

  /// Number of values, over all nodes, in bands that are not zero at a step.  Collective.
  std::size_t busy_values(double step) const;
  const Layout& layout() const { return transform_.layout(); }
  int group() const { return transform_.group(); }
  /// Errors of this node's group at a step tried by reconstruct(); zero for other steps.
  Errors group_errors(const QuantisationStep& step) const {
    const auto at = group_errors_.find(step.value());
    return at == group_errors_.end() ? Errors{} : at->second;
  }

  /// Approximate RMS errors, in any unit, with 0, 1, ... of the last planes missing.
  std::vector<double> plane_errors(const Trial& trial) const;
  /// This node's quantised coefficients, for the node that codes.  One node of the group sends replicated pieces.
  Bytes quantised(const Trial& trial) const;

 private:
  void look();
  template <typename Visit>
  void for_each_piece(const Visit& visit) const;

  Communicator& nodes_;
  const DistributedShape& shape_;
  wavelet::RowDistribution distribution_;
  const Matrix& local_;
  DistributedTransform transform_;
  std::vector<double> reconstruction_;
  ErrorModel model_;
  double largest_ = 0, first_ = 0;
  std::vector<double> band_largest_;       ///< weighted, of this node's rows of its group's bands
  std::map<double, Errors> group_errors_;  ///< by step
};

/// A tile to be coded: the messages of its nodes.
struct PendingTile {
  Layout layout;
  Trial trial;  ///< errors are those of the group
  int exponent = 0;
  double nrmse_unit = 1;
  bool narrow = true;
  std::vector<Bytes> parts;
  std::vector<double> errors;  ///< see plane_errors()
};
/// The body of the tile.
Bytes code_parts(const PendingTile& tile);

}  // namespace effort::codec
