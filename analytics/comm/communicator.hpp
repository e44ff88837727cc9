// The blocking message interface of analytics on several nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace effort {

/// How values of different ranks are combined.
enum class ReduceOp { sum, min, max };

/// A collective could not be completed; the session that caught this must stop using the communicator.
class CommunicatorError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Variable-sized contributions of all ranks, one after the other in rank order.
template <typename T>
struct Gathered {
  std::vector<T> values;
  std::vector<std::size_t> offsets;  ///< size() + 1 entries; rank r owns values[offsets[r] .. offsets[r+1])

  std::span<const T> of(int rank) const {
    return std::span<const T>(values).subspan(offsets[rank], offsets[rank + 1] - offsets[rank]);
  }
};

/// A group of nodes that run the same straight-line code.  Every member function but rank() and size() is
/// collective and blocks the calling thread; all ranks must call the same functions in the same order, with
/// the same element types, reductions, roots and (unless stated) lengths.  One thread per rank may use an
/// instance at a time.  Errors: CommunicatorError.
///
/// There are no floating-point sums, because their result would depend on the order in which ranks arrive.  Values that
/// must be bitwise equal everywhere are summed as scaled integers, or computed on one rank and broadcast.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Element-wise reduction, in place, of equally long arrays.
  virtual void allreduce(std::span<std::int64_t> values, ReduceOp op) = 0;
  /// As above; ReduceOp::sum is refused with CommunicatorError.
  virtual void allreduce(std::span<double> values, ReduceOp op) = 0;

  /// Every rank receives all contributions (lengths may differ).
  template <typename T>
  Gathered<T> allgatherv(std::span<const T> mine) {
    return typed<T>(allgatherv_bytes(std::as_bytes(mine)));
  }
  /// The root receives all contributions (lengths may differ), the others an empty result.
  template <typename T>
  Gathered<T> gatherv(std::span<const T> mine, int root) {
    return typed<T>(gatherv_bytes(std::as_bytes(mine), root));
  }
  /// Rank d receives part d of every rank (lengths may differ), in rank order.
  /// @param parts  size() of them
  template <typename T>
  Gathered<T> alltoallv(const Gathered<T>& parts) {
    std::vector<std::size_t> offsets;
    offsets.reserve(parts.offsets.size());
    for (std::size_t offset : parts.offsets) offsets.push_back(offset * sizeof(T));
    return typed<T>(alltoallv_bytes(std::as_bytes(std::span<const T>(parts.values)), offsets));
  }
  /// The root's values replace those of all ranks; lengths are equal.
  template <typename T>
  void bcast(std::span<T> values, int root) {
    static_assert(std::is_trivially_copyable_v<T>);
    bcast_bytes(std::as_writable_bytes(values), root);
  }
  /// Each rank sends `to_previous` to rank - 1 and `to_next` to rank + 1 (not periodic: the first and last
  /// rank's outward messages are dropped) and receives into `from_previous` and `from_next`.  Lengths must
  /// match those of the senders; at the ends the arrays are left untouched.
  template <typename T>
  void neighbour_exchange(std::span<const T> to_previous, std::span<const T> to_next, std::span<T> from_previous,
                          std::span<T> from_next) {
    static_assert(std::is_trivially_copyable_v<T>);
    neighbour_exchange_bytes(std::as_bytes(to_previous), std::as_bytes(to_next), std::as_writable_bytes(from_previous),
                             std::as_writable_bytes(from_next));
  }

 protected:
  virtual Gathered<std::byte> allgatherv_bytes(std::span<const std::byte> mine) = 0;
  virtual Gathered<std::byte> gatherv_bytes(std::span<const std::byte> mine, int root) = 0;
  /// @param offsets  [size() + 1] of the parts in `mine`
  virtual Gathered<std::byte> alltoallv_bytes(std::span<const std::byte> mine,
                                              std::span<const std::size_t> offsets) = 0;
  virtual void bcast_bytes(std::span<std::byte> values, int root) = 0;
  virtual void neighbour_exchange_bytes(std::span<const std::byte> to_previous, std::span<const std::byte> to_next,
                                        std::span<std::byte> from_previous, std::span<std::byte> from_next) = 0;

 private:
  template <typename T>
  static Gathered<T> typed(Gathered<std::byte> bytes) {
    static_assert(std::is_trivially_copyable_v<T>);
    if constexpr (std::is_same_v<T, std::byte>) {
      return bytes;
    } else {
      Gathered<T> out;
      out.values.resize(bytes.values.size() / sizeof(T));
      if (!out.values.empty()) std::memcpy(out.values.data(), bytes.values.data(), out.values.size() * sizeof(T));
      out.offsets.reserve(bytes.offsets.size());
      for (std::size_t offset : bytes.offsets) out.offsets.push_back(offset / sizeof(T));
      return out;
    }
  }
};

/// A communicator of one: every collective returns at once.
class SelfCommunicator final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void allreduce(std::span<std::int64_t>, ReduceOp) override {}
  void allreduce(std::span<double>, ReduceOp op) override {
    if (op == ReduceOp::sum) throw CommunicatorError("floating-point sums depend on the order: use scaled integers");
  }

 protected:
  Gathered<std::byte> allgatherv_bytes(std::span<const std::byte> mine) override {
    return {std::vector<std::byte>(mine.begin(), mine.end()), {0, mine.size()}};
  }
  Gathered<std::byte> gatherv_bytes(std::span<const std::byte> mine, int) override { return allgatherv_bytes(mine); }
  Gathered<std::byte> alltoallv_bytes(std::span<const std::byte> mine, std::span<const std::size_t>) override {
    return allgatherv_bytes(mine);
  }
  void bcast_bytes(std::span<std::byte>, int) override {}
  void neighbour_exchange_bytes(std::span<const std::byte>, std::span<const std::byte>, std::span<std::byte>,
                                std::span<std::byte>) override {}
};

}  // namespace effort
