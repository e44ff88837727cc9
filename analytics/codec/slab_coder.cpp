#include "analytics/codec/slab_coder.hpp"

#include "analytics/codec/tile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace effort::codec {
namespace {

/// A block of a matrix is coded on one node.  If nodes have more values in all than kept_share, and more nonzero ones
/// than coded_share, they are cut into groups; the border between such groups costs little.
constexpr double kept_share = 1 << 18, coded_share = 1 << 16;

/// First nodes of groups of consecutive nodes, none without rows: a node begins a group where `full(rows of the group
/// so far, rows of the node)`.
template <typename Full>
std::vector<int> group_nodes(const std::vector<std::size_t>& rows, const Full& full) {
  std::vector<int> groups{0};
  std::size_t in_group = 0;
  for (std::size_t node = 0; node < rows.size(); ++node) {
    if (in_group > 0 && rows[node] > 0 && full(in_group, rows[node])) {
      groups.push_back(static_cast<int>(node));
      in_group = 0;
    }
    in_group += rows[node];
  }
  return groups;
}

int end_of(const std::vector<int>& groups, std::size_t group, int nodes) {
  return group + 1 < groups.size() ? groups[group + 1] : nodes;
}

/// Joins the run lengths of several nodes' absence masks.
Bytes join_masks(const std::vector<Bytes>& masks) {
  std::vector<std::uint64_t> runs{0};
  for (const Bytes& mask : masks) {
    ByteReader in(mask);
    in.varint();  // number of bytes
    for (bool gone = false; !in.rest().empty(); gone = !gone) {
      const std::uint64_t run = in.varint();
      if (run == 0) continue;
      if ((runs.size() % 2 == 0) == gone) {
        runs.back() += run;
      } else {
        runs.push_back(run);
      }
    }
  }
  Bytes body, out;
  for (const std::uint64_t run : runs) put_varint(body, run);
  put_varint(out, body.size());
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

}  // namespace

/// A node's part of a slab, after the exchange of common facts.
struct SlabCoder::Own {
  DistributedShape shape;
  Matrix matrix;
  Extremes seen;  ///< of all nodes
  bool any_absent = false;
  Bytes mask;

  Own(Communicator& nodes, const NodeRows& mine);

 private:
  static Extremes checked(Communicator& nodes, const NodeRows& mine);
};

/// This node's extremes, once all nodes have validated their values.
Extremes SlabCoder::Own::checked(Communicator& nodes, const NodeRows& mine) {
  std::string problem;
  Extremes own;
  try {
    own = look_over(mine.values, mine.rows, mine.cols, mine.absent);
  } catch (const std::invalid_argument& e) {
    problem = e.what();
  }
  const auto cols = static_cast<std::int64_t>(mine.cols);
  std::array<std::int64_t, 3> facts{problem.empty() ? 0 : 1, cols, -cols};
  nodes.allreduce(std::span<std::int64_t>(facts), ReduceOp::max);
  if (!problem.empty()) throw std::invalid_argument(problem);
  if (facts[0]) throw std::invalid_argument("the rows of another node cannot be encoded: see that node's message");
  if (facts[1] != -facts[2])
    throw std::invalid_argument("the nodes' rows have between " + std::to_string(-facts[2]) + " and " +
                                std::to_string(facts[1]) + " columns: pass the same steps on all");
  return own;
}

SlabCoder::Own::Own(Communicator& nodes, const NodeRows& mine) {
  const Extremes own = checked(nodes, mine);
  const auto n = static_cast<std::int64_t>(mine.rows);
  for (const std::int64_t rows : nodes.allgatherv(std::span<const std::int64_t>(&n, 1)).values)
    shape.rows.push_back(static_cast<std::size_t>(rows));
  shape.cols = mine.cols;
  std::array<double, 2> reach{-own.low, own.high};
  nodes.allreduce(std::span<double>(reach), ReduceOp::max);
  const bool masked = std::any_of(mine.absent.begin(), mine.absent.end(), [](std::uint8_t a) { return a != 0; });
  std::array<std::int64_t, 2> sums{static_cast<std::int64_t>(own.present), masked ? 1 : 0};
  nodes.allreduce(std::span<std::int64_t>(sums), ReduceOp::sum);
  seen = {-reach[0], reach[1], static_cast<std::size_t>(sums[0])};
  shape.present = seen.present;
  any_absent = sums[1] > 0;
  matrix = scaled(mine.values, mine.rows, mine.cols, masked ? mine.absent : std::span<const std::uint8_t>{},
                  {seen.low, seen.high, own.present});
  if (any_absent) put_absent(mask, masked ? mine.absent : std::vector<std::uint8_t>(mine.values.size()));
}

bool SlabCoder::leads(const Slab& slab, std::size_t group) const {
  // Nodes take turns to code, which shares the work.
  const int first = slab.groups[group], count = end_of(slab.groups, group, nodes_.size()) - first;
  return nodes_.rank() == first + static_cast<int>(slabs_.size() % static_cast<std::size_t>(count));
}

/// The messages of the nodes of the group that this node leads, in order; empty on other nodes.
std::vector<Bytes> SlabCoder::collect(const Slab& slab, const Bytes& mine) const {
  if (slab.groups.size() == static_cast<std::size_t>(nodes_.size())) return {mine};
  std::vector<Bytes> parts;
  for (std::size_t g = 0; g < slab.groups.size(); ++g) {
    const int first = slab.groups[g], end = end_of(slab.groups, g, nodes_.size());
    const int leader = first + static_cast<int>(slabs_.size() % static_cast<std::size_t>(end - first));
    const bool member = nodes_.rank() >= first && nodes_.rank() < end;
    const auto all = nodes_.gatherv(std::span<const std::byte>(mine).first(member ? mine.size() : 0), leader);
    for (int node = first; nodes_.rank() == leader && node < end; ++node)
      parts.emplace_back(all.of(node).begin(), all.of(node).end());
  }
  return parts;
}

/// Writes the kind byte of the tile and its absence mask.  Collective.
Bytes SlabCoder::start_of(const Own& own, const Slab& slab, StreamKind kind) const {
  Bytes out;
  put_byte(out, static_cast<unsigned>(kind) | (own.any_absent ? absent_flag : 0));
  if (!own.any_absent) return out;
  const Bytes mask = join_masks(collect(slab, own.mask));
  out.insert(out.end(), mask.begin(), mask.end());
  return out;
}

const SlabCoder::Slab& SlabCoder::add(const NodeRows& mine, const SlabGoal& goal) {
  const Own own(nodes_, mine);
  Slab slab;
  slab.cols = own.shape.cols;
  slab.present = own.seen.present;
  slab.groups = group_nodes(own.shape.rows, [&](std::size_t rows, std::size_t more) {
    return (rows + more) * own.shape.cols > largest_tile;
  });
  if (own.seen.present == 0 || own.seen.low == own.seen.high) {
    add_constant(own, slab);
  } else {
    add_coded(own, goal, slab);
  }
  for (std::size_t g = 0; g < slab.groups.size(); ++g) {
    std::size_t rows = 0;
    for (int node = slab.groups[g]; node < end_of(slab.groups, g, nodes_.size()); ++node)
      rows += own.shape.rows[static_cast<std::size_t>(node)];
    slab.rows.push_back(rows);
  }
  slabs_.push_back(std::move(slab));
  return slabs_.back();
}

void SlabCoder::add_constant(const Own& own, Slab& slab) {
  Bytes tile = start_of(own, slab, StreamKind::constant);
  if (own.seen.present > 0 && own.seen.high != 0) put_double(tile, own.seen.high);
  for (std::size_t g = 0; g < slab.groups.size(); ++g)
    if (leads(slab, g)) jobs_.push_back({slabs_.size(), g, tile, nullptr});
}

/// Stores every node's rows as raw values, if no step is fine enough.
void SlabCoder::add_raw(const Own& own, Slab& slab) {
  slab.groups = group_nodes(own.shape.rows, [](std::size_t, std::size_t) { return true; });
  slab.errors = {};
  // The rows go to the leader of the group, even if it has no rows itself.
  Bytes values;
  for (std::size_t i = 0; i < own.matrix.values.size(); ++i)
    if (own.matrix.absent.empty() || !own.matrix.absent[i])
      put_double(values, std::ldexp(own.matrix.values[i], own.matrix.exponent));
  Bytes tile = start_of(own, slab, StreamKind::raw);
  for (const Bytes& part : collect(slab, values)) tile.insert(tile.end(), part.begin(), part.end());
  for (std::size_t g = 0; g < slab.groups.size(); ++g)
    if (leads(slab, g)) {
      jobs_.push_back({slabs_.size(), g, std::move(tile), nullptr});
      return;  // a node leads one group at most
    }
}

PendingTile SlabCoder::pending(const DistributedCoefficients& coefficients, const Own& own, const Slab& slab,
                               const Trial& trial) const {
  PendingTile tile{coefficients.layout(),
                   trial,
                   own.matrix.exponent,
                   std::ldexp(slab.nrmse_unit, -own.matrix.exponent),
                   coefficients.narrow(trial.step.value()),
                   collect(slab, coefficients.quantised(trial)),
                   coefficients.plane_errors(trial)};
  tile.trial.errors = coefficients.group_errors(trial.step);
  return tile;
}

/// Chooses groups that are small enough for the nodes that code them.
std::vector<int> SlabCoder::finer_groups(const DistributedCoefficients& coefficients, const Own& own,
                                         const Goal& goal) const {
  const double guess = first_guess(coefficients, goal);
  const double coded = coefficients.model().count_from(guess);
  const double share = std::max(static_cast<double>(coefficients.values()) / nodes_.size(), kept_share);
  const double parts = std::min(static_cast<double>(coefficients.busy_values(guess)) / share, coded / coded_share);
  if (parts < 1.5) return {0};
  const double rows = static_cast<double>(own.shape.all_rows()) / parts;
  return group_nodes(own.shape.rows, [&](std::size_t have, std::size_t more) {
    return static_cast<double>(have) + static_cast<double>(more) / 2 > rows ||
           (have + more) * own.shape.cols > largest_tile;
  });
}

void SlabCoder::add_coded(const Own& own, const SlabGoal& wanted, Slab& slab) {
  const double scale = std::ldexp(1.0, -own.matrix.exponent), range = own.matrix.nrmse_unit();
  slab.nrmse_unit = wanted.nrmse_unit > 0 ? wanted.nrmse_unit : std::ldexp(range, own.matrix.exponent);
  Goal goal{wanted.kind, wanted.value, wanted.nrmse_unit > 0 ? wanted.nrmse_unit * scale : range};
  if (goal.kind == Target::Kind::nrmse) goal.value *= goal.nrmse_unit;
  if (goal.kind == Target::Kind::max_error) goal.value *= scale;

  auto coefficients = std::make_unique<DistributedCoefficients>(nodes_, own.shape, slab.groups, own.matrix);
  coefficients->choose_splits(first_guess(*coefficients, goal));
  if (auto finer = finer_groups(*coefficients, own, goal); finer.size() > slab.groups.size()) {
    slab.groups = std::move(finer);
    coefficients.reset();
    coefficients = std::make_unique<DistributedCoefficients>(nodes_, own.shape, slab.groups, own.matrix);
    coefficients->choose_splits(first_guess(*coefficients, goal));
  }
  const std::optional<Trial> found = find_quantisation_step(*coefficients, goal);
  if (!found) return add_raw(own, slab);
  slab.errors = {std::ldexp(found->errors.rms, own.matrix.exponent),
                 std::ldexp(found->errors.max, own.matrix.exponent)};
  Bytes start = start_of(own, slab, StreamKind::context);
  PendingTile tile = pending(*coefficients, own, slab, *found);
  if (!tile.parts.empty())
    jobs_.push_back({slabs_.size(), static_cast<std::size_t>(coefficients->group()), std::move(start),
                     std::make_unique<PendingTile>(std::move(tile))});
}

std::vector<SlabCoder::Block> SlabCoder::code() {
  std::vector<Block> blocks;
  for (Job& job : jobs_) {
    Bytes bytes = std::move(job.start);
    if (job.tile) {
      const Bytes body = code_parts(*job.tile);
      bytes.insert(bytes.end(), body.begin(), body.end());
    }
    job.tile.reset();
    blocks.push_back({job.slab, job.group, std::move(bytes)});
  }
  jobs_.clear();
  return blocks;
}

std::vector<SlabBytes> gather_slabs(Communicator& nodes, const std::vector<SlabCoder::Slab>& slabs,
                                    const std::vector<SlabCoder::Block>& blocks) {
  Bytes mine;
  for (const SlabCoder::Block& block : blocks) {
    put_varint(mine, block.slab);
    put_varint(mine, block.group);
    put_varint(mine, block.bytes.size());
    mine.insert(mine.end(), block.bytes.begin(), block.bytes.end());
  }
  const auto all = nodes.gatherv(std::span<const std::byte>(mine), 0);
  std::vector<SlabBytes> out;
  if (nodes.rank() != 0) return out;
  for (const SlabCoder::Slab& slab : slabs) {
    out.push_back({slab.cols, {}});
    for (const std::size_t rows : slab.rows) out.back().blocks.push_back({rows, {}});
  }
  for (ByteReader in(all.values); !in.rest().empty();) {
    const std::size_t slab = in.varint(), group = in.varint();
    const auto bytes = in.take(in.varint());
    out[slab].blocks[group].bytes.assign(bytes.begin(), bytes.end());
  }
  return out;
}

BlockErrors errors_of(std::span<const SlabCoder::Slab> slabs, double unit) {
  double squares = 0, worst = 0;
  std::size_t present = 0;
  for (const SlabCoder::Slab& slab : slabs) {
    const double relative = slab.errors.rms / unit;
    squares += relative * relative * static_cast<double>(slab.present);
    present += slab.present;
    worst = std::max(worst, slab.errors.max);
  }
  return {present ? std::sqrt(squares / static_cast<double>(present)) : 0, worst};
}

}  // namespace effort::codec
