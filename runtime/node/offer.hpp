// Memory that one process of a node creates and others map.
#pragma once

#include <cstddef>
#include <cstdint>

namespace effort::node {

/// The place where other processes find the memory.  Plain bytes, so that it can be sent to them.
struct Address {
  char path[96] = "";
  std::uint64_t device = 0, inode = 0;  ///< the file at the path

  bool given() const noexcept { return path[0] != 0; }
};

/// How the other processes reach the memory.
enum class Access {
  descriptor,  ///< through the maker's open file in /proc: the memory never has a name, so a killed process leaves
               ///< nothing behind
  name         ///< by a name in /dev/shm, if they cannot open the maker's /proc; files that a killed process leaves
               ///< are removed by the next process of the same user that uses a name
};

/// Offers new, zeroed memory during its lifetime.  Afterwards it can no longer be found; existing mappings stay valid.
class Offer {
 public:
  /// @throws Error(memory) if the system refuses.  The space is reserved at once, so that no SIGBUS occurs later.
  Offer(std::size_t bytes, Access access);
  ~Offer();
  Offer(const Offer&) = delete;
  Offer& operator=(const Offer&) = delete;

  const Address& address() const noexcept { return address_; }
  /// Maps all of it into this process.
  std::byte* map() const;
  /// Maps memory that another process offers; `bytes` must be its size.
  /// @throws Error(memory)
  static std::byte* map(const Address& address, std::size_t bytes);

 private:
  void withdraw() noexcept;

  Address address_;
  std::size_t bytes_;
  Access access_;
  int file_ = -1;
};

}  // namespace effort::node
