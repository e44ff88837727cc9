// Pending and persistent requests, found by their handles.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace effort::pmpi {

using Word = std::uintptr_t;
struct Communicator;

/// Numbers requests and finds them again.  A handle may stand for several at a time: Open MPI gives all small sends the
/// same completed request.  The newest is found first, if possible one that the same thread has started.
///
/// A request has the lowest number that is free when it starts, so that equal steps have equal numbers.  Its life cycle
/// is add(), bind() once MPI has given it a handle, then claim(), and finally release() or put_back().  A claimed
/// request is not found by its handle: MPI may already have given that to a new one.
class RequestTable {
 public:
  static constexpr std::uint32_t none = 0xffffffff;
  /// The most requests that are followed at a time; further ones have no number.
  static constexpr std::uint32_t most = 1u << 18;
  /// The most requests with one handle.  Only a host that never completes its sends would have more.
  static constexpr std::uint32_t most_alike = 1u << 14;

  struct Request {
    Communicator* communicator = nullptr;
    std::uint64_t bytes = 0;     ///< of a persistent request
    std::uint64_t received = 0;  ///< of a persistent collective
    std::int32_t peer = -1, tag = 0;
    std::uint32_t thread = 0;        ///< slot number of the thread that started it
    std::uint32_t companion = none;  ///< of a receive: the send that completes with it and has no handle; of a
                                     ///< collective: see parts()
    bool sends : 1 = false, persistent : 1 = false, active : 1 = true;
    bool cancelled : 1 = false;  ///< MPI_Cancel was called
    bool reported : 1 = false;   ///< its completion has been recorded
    bool collective : 1 = false;
    bool partitioned : 1 = false;  ///< a receive has all bytes, and no status

    /// Whether it is a non-persistent message on which no other call has been made.
    bool ordinary() const {
      return active && !persistent && !cancelled && !reported && !collective && !partitioned && companion == none;
    }

    /// Of a collective: its number in Traffic::keep(), or none.
    std::uint32_t parts() const { return collective ? companion : none; }

   private:
    friend class RequestTable;
    std::uint16_t alike_ = 0;     ///< approximate number of older ones with the same handle
    std::uint32_t older_ = none;  ///< with the same handle
    Word handle_ = 0;
    std::uint32_t next_ = none;  ///< newest one of another handle in the same bucket
  };
  static_assert(sizeof(Request) == 64 && most_alike <= 0x10000);

  /// @throws std::bad_alloc
  RequestTable() { grow(); }
  /// A number for a request, which then has its initial values; `none` if there are too many.  @throws std::bad_alloc
  std::uint32_t add();
  Request& operator[](std::uint32_t number) { return requests_[number]; }

  /// From now on, the request is found by its handle, which no other has.  @return false if others have it
  bool bind_alone(std::uint32_t number, Word handle);
  /// From now on, the request is found by its handle.
  /// @return false if there are too many with this handle already
  bool bind(std::uint32_t number, Word handle);
  /// A request of that handle, which then is claimed; `none` if there is none.
  std::uint32_t claim(Word handle, std::uint32_t thread);
  /// As claim(), but the request stays.
  std::uint32_t find(Word handle) const;
  /// The claimed request stays pending.  Put several back in the reverse order of their claims.
  void put_back(std::uint32_t number);
  void release(std::uint32_t number);

  std::uint32_t size() const { return used_; }

 private:
  std::size_t bucket(Word handle) const {
    return static_cast<std::size_t>((handle * 0x9e3779b97f4a7c15u) >> 32) & (requests_.size() - 1);
  }
  std::uint32_t* place_of(Word handle);
  std::uint32_t claim_one_of(Word handle, std::uint32_t thread);
  void push(std::uint32_t number);
  void grow();

  static constexpr std::size_t per_word = 64;

  std::vector<Request> requests_;       ///< by number; a power of two of them
  std::vector<std::uint64_t> taken_;    ///< a bit per number
  std::vector<std::uint32_t> buckets_;  ///< as many
  std::size_t first_free_ = 0;          ///< no word of `taken_` before this has room
  std::uint32_t used_ = 0;
};

inline std::uint32_t RequestTable::add() {
  if (used_ == requests_.size()) {
    if (used_ >= most) return none;
    grow();
  }
  while (taken_[first_free_] == ~std::uint64_t{0}) ++first_free_;
  const int bit = std::countr_one(taken_[first_free_]);
  taken_[first_free_] |= std::uint64_t{1} << bit;
  const auto number = static_cast<std::uint32_t>(first_free_ * per_word + static_cast<std::size_t>(bit));
  static constexpr Request initial{};  // copied from memory: a copy built on the stack would stall on store forwarding
  requests_[number] = initial;
  ++used_;
  return number;
}

inline bool RequestTable::bind_alone(std::uint32_t number, Word handle) {
  std::uint32_t& head = buckets_[bucket(handle)];
  for (std::uint32_t at = head; at != none; at = requests_[at].next_)
    if (requests_[at].handle_ == handle) return false;
  Request& request = requests_[number];
  request.handle_ = handle;
  request.next_ = head;
  head = number;
  return true;
}

inline std::uint32_t RequestTable::claim(Word handle, std::uint32_t thread) {
  std::uint32_t& head = buckets_[bucket(handle)];
  if (head == none) return none;
  const Request& first = requests_[head];
  if (__builtin_expect(first.handle_ != handle || first.older_ != none, 0)) return claim_one_of(handle, thread);
  const std::uint32_t number = head;
  head = first.next_;
  return number;
}

inline void RequestTable::release(std::uint32_t number) {
  const std::size_t word = number / per_word;
  taken_[word] &= ~(std::uint64_t{1} << (number % per_word));
  if (word < first_free_) first_free_ = word;
  --used_;
}

}  // namespace effort::pmpi
