// Memory that one process of a node creates and others map.
#pragma once

#include <cstddef>
#include <cstdint>

namespace effort::node {

/// The address under which other processes find it: plain bytes that can be sent to them.
struct Address {
  char path[96] = "";
  std::uint64_t device = 0, inode = 0;  ///< what the path leads to

  bool given() const noexcept { return path[0] != 0; }
};

/// How other processes reach it.
enum class Way {
  descriptor,  ///< through the maker's open file, by /proc: it has no name at any time, so nothing is left of a killed
               ///< process
  name         ///< by a name in /dev/shm, if they cannot open the maker's /proc; the next process of the same user
               ///< that takes this way removes what a killed one has left
};

/// Offers new, zeroed memory for its lifetime.  After that it can no longer be found; mappings persist.
class Offer {
 public:
  /// @throws Error(memory) if the system refuses; space is reserved immediately, so that no SIGBUS follows
  Offer(std::size_t bytes, Way way);
  ~Offer();
  Offer(const Offer&) = delete;
  Offer& operator=(const Offer&) = delete;

  const Address& address() const noexcept { return address_; }
  /// Maps all of it into this process.
  std::byte* map() const;
  /// Maps what another process offers; `bytes` must be its size.
  /// @throws Error(memory)
  static std::byte* map(const Address& address, std::size_t bytes);

 private:
  void withdraw() noexcept;

  Address address_;
  std::size_t bytes_;
  Way way_;
  int file_ = -1;
};

}  // namespace effort::node
