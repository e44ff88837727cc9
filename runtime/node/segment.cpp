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

constexpr std::size_t board_at(const SegmentShape& s) {
  return 4096 + rank_stride * static_cast<std::size_t>(s.n_local);
}
std::size_t traces_at(const SegmentShape& s) { return board_at(s) + aligned(Board::bytes(s.board)); }
std::size_t trace_stride(const SegmentShape& s) { return aligned(recording::Memory::bytes(s.trace_blocks)); }
std::size_t size_of(const SegmentShape& s) {
  return traces_at(s) + trace_stride(s) * static_cast<std::size_t>(s.n_local);
}

}  // namespace

Segment::Segment(std::byte* base, std::size_t bytes, const SegmentShape& shape)
    : base_(base), bytes_(bytes), shape_(shape), board_(base + board_at(shape), shape.board) {
  static_assert(sizeof(SegmentHeader) <= 4096);
}

Segment::~Segment() { munmap(base_, bytes_); }

std::unique_ptr<Segment> Segment::make_private(const SegmentShape& shape) {
  const std::size_t bytes = size_of(shape);
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    throw Error(Status::memory, "allocating " + std::to_string(bytes) + " bytes failed (" + std::strerror(errno) + ")");
  std::unique_ptr<Segment> segment(new Segment(static_cast<std::byte*>(p), bytes, shape));
  segment->header().magic = magic;
  return segment;
}

std::unique_ptr<Segment> Segment::create(const SegmentShape& shape, Access access, std::unique_ptr<Offer>& offer) {
  const std::size_t bytes = size_of(shape);
  auto made = std::make_unique<Offer>(bytes, access);
  std::unique_ptr<Segment> segment(new Segment(made->map(), bytes, shape));
  segment->header().magic = magic;
  offer = std::move(made);
  return segment;
}

std::unique_ptr<Segment> Segment::attach(const Address& address, const SegmentShape& shape) {
  const std::size_t bytes = size_of(shape);
  std::unique_ptr<Segment> segment(new Segment(Offer::map(address, bytes), bytes, shape));
  if (segment->header().magic != magic)
    throw Error(
        Status::memory,
        "the node's shared memory was created by another version of the library; link all ranks with the same one");
  return segment;
}

RankArea& Segment::rank(int local) noexcept {
  return *reinterpret_cast<RankArea*>(base_ + 4096 + rank_stride * static_cast<std::size_t>(local));
}

Ring Segment::ring(int local) noexcept {
  RankArea& area = rank(local);
  return {area.ring, reinterpret_cast<std::byte*>(&area) + aligned(sizeof(RankArea)), ring_capacity};
}

recording::Memory Segment::trace(int local) noexcept {
  if (shape_.trace_blocks == 0) return {};
  return {base_ + traces_at(shape_) + trace_stride(shape_) * static_cast<std::size_t>(local), shape_.trace_blocks};
}

}  // namespace effort::node
