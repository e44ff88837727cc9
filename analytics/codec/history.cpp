#include "analytics/codec/history.hpp"

#include "analytics/codec/tile.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <string>
#include <utility>

namespace effort::codec {
namespace {

constexpr std::size_t fewest_raw_steps = 40;  ///< least number of uncoded steps that become a tile
constexpr std::size_t raw_share = 32;         ///< least ratio of the largest tile to the uncoded values
constexpr std::size_t fan_in = 4;             ///< tiles merged at once
constexpr double finer_working = 256;         ///< precision of tiles to be recoded, relative to the target
constexpr double finer_closed = 64;           ///< precision of closed tiles to be coded once more, likewise

/// RMS and largest error relative to the appended values, in their unit.
struct Deviation {
  double rms = 0, max = 0;
};
/// Errors of successive codings, which may add up.
Deviation chained(const Deviation& a, const Deviation& b) { return {a.rms + b.rms, a.max + b.max}; }

struct CodedTile {
  Bytes bytes;
  Deviation deviation;
  std::size_t present = 0;  ///< values
};

struct Tile {
  std::size_t steps = 0;
  double unit = 1;  ///< unit of errors when its last step was appended
  int generation = 0;
  bool closed = false;  ///< too long to merge
  bool final = false;   ///< coded to the target and never recoded
  CodedTile working;
  CodedTile finished;       ///< empty bytes: not coded yet
  double finished_for = 0;  ///< the range that `finished` was coded for
};

/// A tile between recodings.
const CodedTile& held(const Tile& tile) { return tile.final ? tile.finished : tile.working; }

/// In memory, NaN stands for an absent value.
std::vector<std::uint8_t> absent_of(std::span<const double> values) {
  if (std::none_of(values.begin(), values.end(), [](double v) { return std::isnan(v); })) return {};
  std::vector<std::uint8_t> absent(values.size());
  std::transform(values.begin(), values.end(), absent.begin(), [](double v) { return std::isnan(v) ? 1 : 0; });
  return absent;
}

/// [rows][steps] values with their steps.
using Blocks = std::vector<std::pair<std::vector<double>, std::size_t>>;

/// Blocks that will become a tile.
struct DueTile {
  Blocks blocks;
  double unit;
};

std::size_t steps_of(const Blocks& blocks) {
  std::size_t steps = 0;
  for (const auto& block : blocks) steps += block.second;
  return steps;
}

std::vector<double> join_blocks(std::size_t rows, const Blocks& blocks) {
  const std::size_t steps = steps_of(blocks);
  std::vector<double> all(rows * steps);
  std::size_t first = 0;
  for (const auto& [values, n] : blocks) {
    for (std::size_t i = 0; i < rows; ++i)
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * n), n,
                  all.begin() + static_cast<std::ptrdiff_t>(i * steps + first));
    first += n;
  }
  return all;
}

}  // namespace

struct History::State {
  State(std::size_t r, const Target& t, std::size_t m, bool s) : rows(r), target(t), max_tile_values(m), united(s) {}

  std::size_t rows;
  Target target;
  std::size_t max_tile_values;
  bool united;
  std::size_t steps = 0, present = 0;
  double min = 0, max = 0;
  Blocks raw;  ///< not coded yet
  std::size_t raw_steps = 0;
  std::deque<DueTile> due;
  mutable std::vector<Tile> tiles;

  double unit() const {
    if (max > min) return max - min;
    return std::max(std::abs(max), std::abs(min)) > 0 ? std::max(std::abs(max), std::abs(min)) : 1;
  }
  /// @param finer  precision relative to the target: 1 for serialised bytes, more for tiles to be recoded
  /// @param range  range of the values now, or when the tile was closed
  CodedTile encode(std::span<const double> values, std::size_t n, double finer, const Deviation& before, double bytes,
                   double range) const;
  void close_raw();
  bool closes(std::size_t n) const;
  std::size_t mergeable() const;
  bool work();
  const State& settled() {
    while (work()) continue;
    return *this;
  }
  Tile merged(std::span<const Tile> group) const;
  const CodedTile& finish(Tile& tile) const;
  Bytes pack(const std::vector<std::pair<std::size_t, const CodedTile*>>& parts) const;
  Bytes pack_within_bytes() const;
};

/// Codes one tile; `before` is the error of its values relative to the appended ones.
CodedTile History::State::encode(std::span<const double> values, std::size_t n, double finer, const Deviation& before,
                                 double bytes, double range) const {
  const bool working = finer > 1;
  const std::vector<std::uint8_t> absent = absent_of(values);
  const Matrix matrix = prepare(values, rows, n, absent);
  const double scale = std::ldexp(1.0, -matrix.exponent);
  Goal goal{target.kind(), target.value(), range * scale};
  switch (target.kind()) {
    case Target::Kind::passes:
      if (working) goal.value = std::min(goal.value + 6, 60.0);
      break;
    case Target::Kind::nrmse:
      goal.value = std::max(working ? goal.value * range / finer : goal.value * range - before.rms, 0.0) * scale;
      break;
    case Target::Kind::max_error:
      goal.value = std::max(working ? goal.value / finer : goal.value - before.max, 0.0) * scale;
      break;
    case Target::Kind::max_bytes:
      goal.value = bytes;
      if (working) goal = {Target::Kind::nrmse, 1e-4 * range * scale, goal.nrmse_unit};
      break;
  }
  goal.quick = working;
  TileCode code = encode_tile(matrix, goal);
  const Deviation own{std::ldexp(code.errors.rms, matrix.exponent), std::ldexp(code.errors.max, matrix.exponent)};
  return {std::move(code.bytes), chained(before, own), matrix.present};
}

/// Codes windows that have waited until another whole tile has arrived, so memory is bounded even if work() is never
/// called.
void History::State::close_raw() {
  due.push_back({std::exchange(raw, {}), unit()});
  raw_steps = 0;
  while (due.size() > 1) work();
}

/// Whether a tile of so many steps is large enough to be closed.
bool History::State::closes(std::size_t n) const {
  return target.kind() != Target::Kind::max_bytes && rows * n >= max_tile_values / 2;
}

/// The number of last tiles to be merged: four of a generation.  If that makes four of the next generation, all of
/// these are merged at once, because the intermediate tile would be coded only to be decoded again.
std::size_t History::State::mergeable() const {
  std::size_t count = 0, joined_steps = 0;
  for (int generation = tiles.empty() ? 0 : tiles.back().generation;; ++generation) {
    std::size_t alike = count > 0 ? 1 : 0, joined = count;
    for (; alike < fan_in && joined < tiles.size(); ++alike, ++joined) {
      const Tile& tile = tiles[tiles.size() - 1 - joined];
      if (tile.closed || tile.generation != generation) break;
      joined_steps += tile.steps;
    }
    if (alike < fan_in) return count;
    count = joined;
    if (closes(joined_steps)) return count;
  }
}

/// Merges come first, so the tiles do not depend on when the work is done.
bool History::State::work() {
  if (const std::size_t count = mergeable(); count > 0) {
    Tile tile = merged(std::span(tiles).last(count));
    tiles.resize(tiles.size() - count);
    tiles.push_back(std::move(tile));
    return true;
  }
  if (due.empty()) return false;
  Tile tile;
  const DueTile& next = due.front();
  tile.steps = steps_of(next.blocks);
  tile.unit = next.unit;
  tile.working = encode(join_blocks(rows, next.blocks), tile.steps, finer_working, {}, 0, tile.unit);
  due.pop_front();
  tiles.push_back(std::move(tile));
  return true;
}

/// Merges consecutive tiles.  A tile that has grown large enough is coded to the target and closed.
Tile History::State::merged(std::span<const Tile> group) const {
  Tile tile;
  Deviation worst;
  Blocks blocks;
  for (const Tile& part : group) {
    blocks.emplace_back(decode_tile(part.working.bytes, rows, part.steps), part.steps);
    worst = {std::max(worst.rms, part.working.deviation.rms), std::max(worst.max, part.working.deviation.max)};
    tile.generation = std::max(tile.generation, part.generation + 1);
    tile.steps += part.steps;
    tile.unit = part.unit;
  }
  tile.closed = closes(tile.steps);
  tile.final = tile.closed && !united;
  const std::vector<double> values = join_blocks(rows, blocks);
  tile.working = encode(values, tile.steps,
                        tile.final    ? 1
                        : tile.closed ? finer_closed
                                      : finer_working,
                        worst, 0, tile.unit);
  if (tile.final) tile.finished = std::exchange(tile.working, {});
  return tile;
}

/// The tile coded to the target.
const CodedTile& History::State::finish(Tile& tile) const {
  if (tile.final) return tile.finished;
  const bool stale = tile.finished.bytes.empty() || tile.finished_for < unit() / 2;
  if (stale) {
    const std::vector<double> values = decode_tile(tile.working.bytes, rows, tile.steps);
    tile.finished = encode(values, tile.steps, 1, tile.working.deviation, 0, unit());
    tile.finished_for = unit();
  }
  return tile.finished;
}

Bytes History::State::pack(const std::vector<std::pair<std::size_t, const CodedTile*>>& parts) const {
  double squares = 0, worst = 0;
  std::size_t counted = 0;
  for (const auto& [n, part] : parts) {
    const double relative = part->deviation.rms / unit();
    squares += relative * relative * static_cast<double>(part->present);
    counted += part->present;
    worst = std::max(worst, part->deviation.max);
  }
  int exponent = 0;
  std::frexp(unit(), &exponent);
  Bytes out;
  put_byte(out, version_byte);
  put_byte(out, history_form);
  put_u16(out, 0);
  put_varint(out, rows);
  put_varint(out, steps);
  put_u16(out, error_code(std::sqrt(squares / static_cast<double>(std::max<std::size_t>(counted, 1)))));
  put_u16(out, error_code(std::ldexp(worst, -exponent)));
  put_signed(out, exponent);
  put_varint(out, parts.size());
  for (const auto& [n, part] : parts) {
    if (parts.size() > 1) put_varint(out, n);
    if (parts.size() > 1) put_varint(out, part->bytes.size());
  }
  for (const auto& [n, part] : parts) out.insert(out.end(), part->bytes.begin(), part->bytes.end());
  seal(out);
  return out;
}

/// All steps as one tile within a number of bytes.
Bytes History::State::pack_within_bytes() const {
  Blocks blocks;
  Deviation worst;
  for (const Tile& tile : tiles) {
    blocks.emplace_back(decode_tile(tile.working.bytes, rows, tile.steps), tile.steps);
    worst = {std::max(worst.rms, tile.working.deviation.rms), std::max(worst.max, tile.working.deviation.max)};
  }
  blocks.insert(blocks.end(), raw.begin(), raw.end());
  const CodedTile all = encode(join_blocks(rows, blocks), steps, 1, worst, target.value() - 32, unit());
  return pack({{steps, &all}});
}

History::History(std::size_t rows, const Target& target, std::size_t max_tile_values, bool united)
    : state_(std::make_unique<State>(rows, target, std::min(max_tile_values, largest_tile), united)) {
  if (rows == 0) throw std::invalid_argument("a history has 0 rows: give it one per local rank");
  if (target.kind() == Target::Kind::max_bytes && target.value() < 96)
    throw std::invalid_argument("a history of at most " + std::to_string(static_cast<int>(target.value())) +
                                " bytes: allow at least 96");
}
History::~History() = default;
History::History(History&&) noexcept = default;
History& History::operator=(History&&) noexcept = default;

void History::append(std::span<const double> block, std::size_t steps, std::span<const std::uint8_t> absent) {
  State& s = *state_;
  const Extremes seen = look_over(block, s.rows, steps, absent);
  if (steps == 0) return;
  if (seen.present > 0) {
    s.min = s.present == 0 ? seen.low : std::min(s.min, seen.low);
    s.max = s.present == 0 ? seen.high : std::max(s.max, seen.high);
  }
  s.present += seen.present;
  std::vector<double> values(block.begin(), block.end());
  for (std::size_t i = 0; i < absent.size(); ++i)
    if (absent[i]) values[i] = std::numeric_limits<double>::quiet_NaN();
  s.raw.emplace_back(std::move(values), steps);
  s.raw_steps += steps;
  s.steps += steps;
  if (s.raw_steps >= fewest_raw_steps && s.raw_steps * s.rows >= s.max_tile_values / raw_share) s.close_raw();
}

std::size_t History::rows() const { return state_->rows; }
std::size_t History::steps() const { return state_->steps; }
double History::min() const { return state_->min; }
double History::max() const { return state_->max; }
bool History::empty() const { return state_->present == 0; }
bool History::work() { return state_->work(); }

std::size_t History::held_bytes() const {
  std::size_t bytes = 0;
  for (const Tile& tile : state_->tiles) bytes += tile.working.bytes.size() + tile.finished.bytes.size();
  std::size_t steps = state_->raw_steps;
  for (const DueTile& tile : state_->due) steps += steps_of(tile.blocks);
  return bytes + state_->rows * steps * sizeof(double);
}

std::vector<std::byte> History::serialize() const {
  const State& s = state_->settled();
  if (s.target.kind() == Target::Kind::max_bytes && s.steps > 0) return s.pack_within_bytes();
  std::vector<std::pair<std::size_t, const CodedTile*>> parts;
  for (Tile& tile : s.tiles) parts.emplace_back(tile.steps, &s.finish(tile));
  CodedTile last;
  if (s.raw_steps > 0) {
    last = s.encode(join_blocks(s.rows, s.raw), s.raw_steps, 1, {}, 0, s.unit());
    parts.emplace_back(s.raw_steps, &last);
  }
  return s.pack(parts);
}

std::vector<std::byte> History::serialize_final() const {
  const State& s = state_->settled();
  if (s.target.kind() == Target::Kind::max_bytes) return serialize();
  std::vector<std::pair<std::size_t, const CodedTile*>> parts;
  Blocks blocks;
  Deviation worst;
  std::size_t steps = 0;
  for (Tile& tile : s.tiles) {
    if (tile.closed) {
      parts.emplace_back(tile.steps, &s.finish(tile));
      continue;
    }
    blocks.emplace_back(decode_tile(tile.working.bytes, s.rows, tile.steps), tile.steps);
    worst = {std::max(worst.rms, tile.working.deviation.rms), std::max(worst.max, tile.working.deviation.max)};
    steps += tile.steps;
  }
  blocks.insert(blocks.end(), s.raw.begin(), s.raw.end());
  steps += s.raw_steps;
  CodedTile rest;
  if (steps > 0) {
    rest = s.encode(join_blocks(s.rows, blocks), steps, 1, worst, 0, s.unit());
    parts.emplace_back(steps, &rest);
  }
  return s.pack(parts);
}

HistoryColumns::HistoryColumns(const History& history) : state_(history.state_->settled()) {
  double squares = 0;
  for (const Tile& tile : state_.tiles) {
    const CodedTile& code = held(tile);
    squares += code.deviation.rms * code.deviation.rms * static_cast<double>(code.present);
    max_ = std::max(max_, code.deviation.max);
  }
  rms_ = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(state_.present, 1)));
}

/// The next tile, or at the end the uncoded windows.
void HistoryColumns::load() {
  taken_ = 0;
  if (next_ < state_.tiles.size()) {
    const Tile& tile = state_.tiles[next_];
    values_ = decode_tile(held(tile).bytes, state_.rows, tile.steps);
    steps_ = tile.steps;
  } else if (next_ == state_.tiles.size() && state_.raw_steps > 0) {
    values_ = join_blocks(state_.rows, state_.raw);
    steps_ = state_.raw_steps;
  } else {
    throw std::invalid_argument("the history has fewer steps than are read: read at most steps() in all");
  }
  ++next_;
}

void HistoryColumns::read(std::size_t steps, double* to, std::size_t stride) {
  for (std::size_t done = 0; done < steps;) {
    if (taken_ == steps_) load();
    const std::size_t n = std::min(steps - done, steps_ - taken_);
    for (std::size_t i = 0; i < state_.rows; ++i)
      std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(i * steps_ + taken_), n, to + i * stride + done);
    done += n;
    taken_ += n;
  }
}

}  // namespace effort::codec
