// The communication matrix, recorded only if COMM_MATRIX asks for it (docs/measuring-mpi.md).
#pragma once

#include "adapters/pmpi/messages/collective_rules.hpp"
#include "runtime/config/settings.hpp"
#include "runtime/host_scope.hpp"
#include "runtime/measure/frame.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::pmpi {

#pragma GCC visibility push(hidden)
/// Whether the matrix is recorded.
extern bool traffic_on;
#pragma GCC visibility pop

/// The rank's messages since the matrix was last reported.  Belongs to one thread at a time; may throw std::bad_alloc.
class Traffic {
 public:
  /// @param me  this rank in MPI_COMM_WORLD
  void begin(int me);
  int me() const { return me_; }
  /// Called when a step ends.  @return whether a window of `window` steps ends with it
  bool ends_window(std::int64_t window) { return ++steps_ % window == 0; }

  /// A call's parts, among which its `ticks` are divided by weight.
  void add(std::uint32_t region, std::span<const Part> parts, std::uint64_t ticks);
  /// A collective.  Repetitions at the same place are only counted until the matrix is reported.
  void add(std::uint32_t region, Call call, const DataArguments& a, Communicator& communicator, std::uint64_t ticks);

  /// Keeps the parts of a non-blocking or persistent collective until drop().  @return their number
  std::uint32_t keep(std::vector<Part> parts);
  const std::vector<Part>& kept(std::uint32_t number) const { return kept_[number]; }
  void drop(std::uint32_t number);

  /// The rows since the last report, which are then cleared.  @param tick  seconds
  std::vector<measure::Flow> take(double tick);

 private:
  /// An element of the matrix: messages of one class of sizes in one direction.
  struct Cell {
    std::uint32_t region = 0;
    std::int32_t peer = 0;
    std::uint32_t kind = 0;  ///< 0: free; see kind_of()
    std::uint64_t messages = 0, bytes = 0;
    double ticks = 0;
    bool is(std::uint32_t r, std::int32_t p, std::uint32_t k) const { return peer == p && region == r && kind == k; }
  };
  /// The last collective at a place, and how often it was repeated.
  struct Repeated {
    std::uint32_t region = 0;
    Call call = Call::count;
    std::uint64_t communicator = 0;  ///< hash
    CollectiveSize size;
    std::uint64_t times = 0, ticks = 0;
    std::vector<Part> parts;
  };

  static std::uint32_t kind_of(const Part& part) {
    const auto size_class = part.counts ? static_cast<std::uint32_t>(std::bit_width(part.bytes)) + 1 : 0;
    return 1 + 2 * size_class + (part.sends ? 1 : 0);
  }
  static std::size_t place(std::uint32_t region, std::int32_t peer, std::uint32_t kind) {
    const std::uint64_t key =
        std::uint64_t{region} << 32 ^ std::uint64_t{kind} << 24 ^ static_cast<std::uint32_t>(peer);
    return (key * 0x9e3779b97f4a7c15u) >> 32;
  }
  Cell& cell(std::uint32_t region, const Part& part);
  void grow();
  void settle(Repeated& repeated);

  int me_ = 0;
  std::int64_t steps_ = 0;
  std::size_t used_ = 0;
  std::vector<Cell> cells_ = std::vector<Cell>(64);  ///< open addressing; a power of two of them
  std::array<Repeated, 64> repeated_{};              ///< by region
  std::vector<Part> parts_;                          ///< of the current collective
  std::vector<std::vector<Part>> kept_;
  std::vector<std::uint32_t> free_;  ///< of kept_
};

inline Traffic::Cell& Traffic::cell(std::uint32_t region, const Part& part) {
  const std::uint32_t kind = kind_of(part);
  const std::size_t mask = cells_.size() - 1;
  for (std::size_t i = place(region, part.peer, kind);; ++i) {
    Cell& c = cells_[i & mask];
    if (__builtin_expect(c.is(region, part.peer, kind), 1)) return c;
    if (c.kind != 0) continue;
    if (4 * ++used_ > 3 * cells_.size()) {
      --used_;
      grow();
      return cell(region, part);
    }
    c = {region, part.peer, kind};
    return c;
  }
}

inline void Traffic::add(std::uint32_t region, std::span<const Part> parts, std::uint64_t ticks) {
  const AmountScope scope;
  double share = AmountScope::amount(static_cast<double>(ticks));
  if (parts.size() > 1) {
    float weights = 0;
    for (const Part& p : parts) weights += p.weight;
    if (weights > 0) share /= weights;
  }
  for (const Part& p : parts) {
    Cell& c = cell(region, p);
    if (p.counts) {
      ++c.messages;
      c.bytes += p.bytes;
    }
    c.ticks += share * p.weight;
  }
}

/// A session begins.
void begin_traffic(const config::Settings& settings);
/// Before a step ends: at a window's end, reports the matrix.
void traffic_step(bool last);

}  // namespace effort::pmpi
