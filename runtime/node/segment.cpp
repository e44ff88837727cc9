#include "runtime/node/segment.hpp"

#include "runtime/status.hpp"

#include <cerrno>
#include <cstring>
#include <string>

#include <sys/mman.h>

namespace effort::node {
namespace {

constexpr std::uint64_t magic = 0x3174726f66666531;  // "1effort1"

constexpr std::size_t aligned(std::size_t n) { return (n + 4095) / 4096 * 4096; }
constexpr std::size_t rank_stride = aligned(sizeof(RankArea)) + Segment::ring_capacity;

}  // namespace

std::size_t Segment::size_for(int n_local, const BoardShape& shape) {
  return 4096 + rank_stride * static_cast<std::size_t>(n_local) + aligned(Board::bytes(shape));
}

Segment::Segment(std::byte* base, std::size_t bytes, int n_local, const BoardShape& shape)
    : base_(base),
      bytes_(bytes),
      n_local_(n_local),
      board_(base + 4096 + rank_stride * static_cast<std::size_t>(n_local), shape) {
  static_assert(sizeof(SegmentHeader) <= 4096);
}

Segment::~Segment() { munmap(base_, bytes_); }

std::unique_ptr<Segment> Segment::make_private(int n_local, const BoardShape& shape) {
  const std::size_t bytes = size_for(n_local, shape);
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    throw Error(Status::memory, "allocating " + std::to_string(bytes) + " bytes failed (" + std::strerror(errno) + ")");
  std::unique_ptr<Segment> segment(new Segment(static_cast<std::byte*>(p), bytes, n_local, shape));
  segment->header().magic = magic;
  return segment;
}

std::unique_ptr<Segment> Segment::create(int n_local, const BoardShape& shape, Way way, std::unique_ptr<Offer>& offer) {
  const std::size_t bytes = size_for(n_local, shape);
  auto made = std::make_unique<Offer>(bytes, way);
  std::unique_ptr<Segment> segment(new Segment(made->map(), bytes, n_local, shape));
  segment->header().bytes = bytes;
  segment->header().n_local = static_cast<std::uint32_t>(n_local);
  segment->header().magic = magic;
  offer = std::move(made);
  return segment;
}

std::unique_ptr<Segment> Segment::attach(const Address& address, int n_local, const BoardShape& shape) {
  const std::size_t bytes = size_for(n_local, shape);
  std::unique_ptr<Segment> segment(new Segment(Offer::map(address, bytes), bytes, n_local, shape));
  if (segment->header().magic != magic)
    throw Error(Status::memory,
                "the node's shared memory was made by another version of the library; link all ranks with one");
  return segment;
}

RankArea& Segment::rank(int local) noexcept {
  return *reinterpret_cast<RankArea*>(base_ + 4096 + rank_stride * static_cast<std::size_t>(local));
}

Ring Segment::ring(int local) noexcept {
  RankArea& area = rank(local);
  return {area.ring, reinterpret_cast<std::byte*>(&area) + aligned(sizeof(RankArea)), ring_capacity};
}

}  // namespace effort::node
