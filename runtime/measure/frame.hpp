// The byte stream of records that a rank publishes to its node's background thread.
#pragma once

#include "runtime/measure/registry.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace effort::measure {

enum class RecordType : std::uint16_t {
  definition = 1,
  frame = 2,
  rebalance = 3,
  snapshot = 4,
  final = 5,
  traffic = 6,
  arrivals = 7
};

/// Precedes every record.  Both ends run the same library on the same node, so the compiler's layout is used as is.
struct RecordHeader {
  std::uint32_t bytes;  ///< of the whole record, header included; a multiple of 8
  RecordType type;
  std::uint16_t flags;
};

/// The cost of one step (or of several merged steps) on a rank, followed by n_entries Entry.
struct FrameHeader {
  RecordHeader record;
  std::int64_t first_step, last_step;
  double load;  ///< LOAD_METRIC of COMPUTE regions over the host's threads, whole frame
  double wait;  ///< seconds in COMM, WAIT and IO regions of the stepping thread, whole frame
  double wall;  ///< seconds between the two progress steps, whole frame
  std::uint32_t phase;
  std::uint32_t n_entries;
};

struct Entry {
  std::uint32_t region;  ///< the rank's id; `outside` is allowed for application metrics
  std::uint16_t series;  ///< metric, calls_series, or work_series + unit
  std::uint16_t reserved;
  double value;
};
inline constexpr std::uint16_t calls_series = 0x7fff;  ///< calls that began, for a trace; not in the history
inline constexpr std::uint16_t work_series = 0x8000;
inline constexpr std::uint32_t whole_step = 0xffffffff;  ///< region of values that are read once for the whole step

struct RebalanceRecord {
  RecordHeader record;
  std::int64_t step;        ///< in which it took place
  double price, computing;  ///< seconds, with and without waiting (measure::Price); negative: unknown
  double before;            ///< load that the thread had added to the step when the rebalance began
  std::int32_t answer;      ///< 1: rebalanced, 0: did not, < 0: failed
  std::int32_t bracketed;   ///< 1: by effort_rebalance_begin and _end, 0: the callback's answer
};

struct FinalRecord {
  RecordHeader record;
  std::int64_t steps;  ///< number of steps that the rank has ended
};

/// The messages from one rank to another in calls of a region.  A traffic record is a sequence of these.
struct Flow {
  std::int32_t source, destination;
  std::uint32_t region;
  /// The messages have 2^(size_class - 1) to 2^size_class - 1 bytes; 0: they are empty; -1: no messages, only time.
  std::int32_t size_class;
  double messages, bytes, seconds;
};

/// The rank's arrivals at a communicator's collectives since its last step, followed by one word for each that was
/// sampled: arrival_word().
struct ArrivalsHeader {
  RecordHeader record;
  std::uint32_t communicator;  ///< the rank's id of the name
  std::int32_t place, size;    ///< the rank in the communicator, and the communicator's size
  std::uint32_t level;         ///< of the sample (analytics/communication/instance_sample.hpp)
  std::uint64_t first, end;    ///< ordinals of the communicator's blocking collectives, `end` excluded
  std::uint64_t inside;        ///< ticks inside them, whether sampled or not
};
/// A clock's ticks, of which the three highest bits are lost, and three bits that say what the rank does
/// (communication::Part).
constexpr std::uint64_t arrival_word(std::uint64_t ticks, std::uint8_t part) { return ticks << 3 | part; }

/// A growing byte stream of records.
class RecordStream {
 public:
  void definition(const Defined& d) {
    // id, what, kind, name length, unit length, name, unit
    const std::uint32_t head[4] = {d.id, static_cast<std::uint32_t>(d.what) << 8 | static_cast<std::uint32_t>(d.kind),
                                   static_cast<std::uint32_t>(d.name.size()),
                                   static_cast<std::uint32_t>(d.unit.size())};
    begin(RecordType::definition);
    put(head, sizeof head);
    put(d.name.data(), d.name.size());
    put(d.unit.data(), d.unit.size());
    end();
  }
  void text(RecordType type, const std::string& text) {
    begin(type);
    put(text.data(), text.size());
    end();
  }
  void traffic(std::span<const Flow> flows) {
    begin(RecordType::traffic);
    put(flows.data(), flows.size_bytes());
    end();
  }
  void arrivals(ArrivalsHeader header, std::span<const std::uint64_t> words) {
    header.record = {static_cast<std::uint32_t>(sizeof header + words.size_bytes()), RecordType::arrivals, 0};
    put(&header, sizeof header);
    put(words.data(), words.size_bytes());
  }
  template <typename T>
  void fixed(T record, RecordType type) {
    static_assert(sizeof(T) % 8 == 0);
    record.record = {sizeof(T), type, 0};
    put(&record, sizeof record);
  }

  /// Appends the bytes of a record or of a part of one.
  template <typename T>
  void append(const T& part) {
    put(&part, sizeof part);
  }

  std::span<std::byte> bytes() noexcept { return {data_.get(), size_}; }
  /// Keeps the memory.
  void clear() noexcept { size_ = 0; }
  /// Takes over all records of `other`, which is then empty.
  void take(RecordStream& other) {
    if (size_ == 0) {
      data_.swap(other.data_);
      std::swap(size_, other.size_);
      std::swap(room_, other.room_);
    } else if (other.size_ > 0) {
      put(other.data_.get(), other.size_);
    }
    other.clear();
  }

 private:
  void begin(RecordType type) {
    start_ = size_;
    const RecordHeader h{0, type, 0};
    put(&h, sizeof h);
  }
  void end() {
    const std::size_t length = size_ - start_;
    const std::uint32_t padded = static_cast<std::uint32_t>((length + 7) / 8 * 8);
    constexpr std::byte zeros[8] = {};
    put(zeros, padded - length);
    std::memcpy(data_.get() + start_, &padded, sizeof padded);
    // The flags hold the padding, so that the reader can recover the text's length.
    const std::uint16_t padding = static_cast<std::uint16_t>(padded - length);
    std::memcpy(data_.get() + start_ + offsetof(RecordHeader, flags), &padding, sizeof padding);
  }
  // Every step appends a few small parts of known size, for which inserting into a vector takes several times as long.
  void put(const void* data, std::size_t n) {
    if (__builtin_expect(n > room_ - size_, 0)) grow(n);
    std::memcpy(data_.get() + size_, data, n);
    size_ += n;
  }
  void grow(std::size_t n);

  std::unique_ptr<std::byte[]> data_;
  std::size_t size_ = 0, room_ = 0, start_ = 0;
};

/// Reads back what RecordStream::definition wrote; `record` is one whole record.
Defined read_definition(std::span<const std::byte> record);
/// The text of a snapshot record.
std::string read_text(std::span<const std::byte> record);

}  // namespace effort::measure
