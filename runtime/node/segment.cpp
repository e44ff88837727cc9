#include "runtime/node/segment.hpp"

#include "runtime/quiet_write.hpp"
#include "runtime/status.hpp"

#include <cerrno>
#include <cstring>
#include <random>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace effort::node {
namespace {

constexpr std::uint64_t magic = 0x3174726f66666531;  // "1effort1"

constexpr std::size_t aligned(std::size_t n) { return (n + 4095) / 4096 * 4096; }
constexpr std::size_t rank_stride = aligned(sizeof(RankArea)) + Segment::ring_capacity;

Error refused(const std::string& what, int error) {
  return Error(Status::memory, what + " failed (" + std::strerror(error) +
                                   "): each rank becomes a node of its own; give /dev/shm more room to share memory");
}

std::byte* map_shared(int fd, std::size_t bytes, const std::string& name) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const int error = errno;
  close(fd);
  if (p == MAP_FAILED) throw refused("mapping shared memory " + name, error);
  return static_cast<std::byte*>(p);
}

std::string fresh_name() {
  std::random_device random;
  const std::uint64_t r = (static_cast<std::uint64_t>(random()) << 32) | random();
  return "/effort-" + std::to_string(getuid()) + "-" + std::to_string(getpid()) + "-" + std::to_string(r);
}

}  // namespace

std::size_t Segment::size_for(int n_local, const BoardShape& shape) {
  return 4096 + rank_stride * static_cast<std::size_t>(n_local) + aligned(Board::bytes(shape));
}

Segment::Segment(std::byte* base, std::size_t bytes, int n_local, const BoardShape& shape)
    : base_(base), bytes_(bytes), n_local_(n_local),
      board_(base + 4096 + rank_stride * static_cast<std::size_t>(n_local), shape) {
  static_assert(sizeof(SegmentHeader) <= 4096);
}

Segment::~Segment() { munmap(base_, bytes_); }

std::unique_ptr<Segment> Segment::make_private(int n_local, const BoardShape& shape) {
  const std::size_t bytes = size_for(n_local, shape);
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw refused("allocating " + std::to_string(bytes) + " bytes", errno);
  std::unique_ptr<Segment> segment(new Segment(static_cast<std::byte*>(p), bytes, n_local, shape));
  segment->header().magic = magic;
  return segment;
}

std::unique_ptr<Segment> Segment::create(int n_local, const BoardShape& shape, std::string& name) {
  const std::size_t bytes = size_for(n_local, shape);
  name = fresh_name();
  const int fd = shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
  if (fd < 0) throw refused("creating shared memory " + name, errno);
  const WriteSignalsHeld held;
  int error = ftruncate(fd, static_cast<off_t>(bytes)) != 0 ? errno : 0;
  // Reserving now turns a full /dev/shm into an error here instead of a SIGBUS in the host later.
  if (error == 0) error = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  if (error != 0) {
    close(fd);
    unlink(name);
    throw refused("reserving " + std::to_string(bytes) + " bytes of shared memory", error);
  }
  std::unique_ptr<Segment> segment;
  try {
    segment.reset(new Segment(map_shared(fd, bytes, name), bytes, n_local, shape));
  } catch (...) {
    unlink(name);
    throw;
  }
  segment->header().bytes = bytes;
  segment->header().n_local = static_cast<std::uint32_t>(n_local);
  segment->header().magic = magic;
  return segment;
}

std::unique_ptr<Segment> Segment::attach(const std::string& name, int n_local, const BoardShape& shape) {
  const std::size_t bytes = size_for(n_local, shape);
  const int fd = shm_open(name.c_str(), O_RDWR, 0);
  if (fd < 0) throw refused("opening shared memory " + name, errno);
  struct stat st {};
  if (fstat(fd, &st) != 0 || static_cast<std::size_t>(st.st_size) != bytes) {
    close(fd);
    throw Error(Status::memory, "shared memory " + name + " has an unexpected size: the ranks of this node run different versions of the library; link them all with one");
  }
  std::unique_ptr<Segment> segment(new Segment(map_shared(fd, bytes, name), bytes, n_local, shape));
  if (segment->header().magic != magic)
    throw Error(Status::memory, "shared memory " + name + " was made by another version of the library; link all ranks with one");
  return segment;
}

void Segment::unlink(const std::string& name) noexcept { shm_unlink(name.c_str()); }

RankArea& Segment::rank(int local) noexcept {
  return *reinterpret_cast<RankArea*>(base_ + 4096 + rank_stride * static_cast<std::size_t>(local));
}

Ring Segment::ring(int local) noexcept {
  RankArea& area = rank(local);
  return {area.ring, reinterpret_cast<std::byte*>(&area) + aligned(sizeof(RankArea)), ring_capacity};
}

}  // namespace effort::node
