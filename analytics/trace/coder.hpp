// Codes event traces.  The events of one thread in one window become a chunk.  Its recurring part, the sequence of
// events without their times, is coded once and kept in a dictionary that all chunks of a stream share, so a chunk is
// little more than its time stamps.  FORMAT.md describes every byte.
//
//   Encoder encoder(TimeBound::usual());
//   const Encoder::Coded coded = encoder.encode(place, events);   // write coded.dictionary, if any, then coded.events
//
//   Decoder decoder;
//   decoder.add(coded.dictionary);                                // in the order of the file
//   std::vector<Event> same = decoder.decode(place, coded.events);  // any chunk, in any order
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "analytics/trace/event.hpp"

namespace effort::trace {

/// The bytes are damaged, or need a piece of the dictionary that is missing.  what() says which.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The most events of a chunk.  Split a longer window into several chunks.
inline constexpr std::size_t most_events = std::size_t{1} << 20;

/// Limits of a chunk whose segments may have representatives.
inline constexpr std::size_t most_reduced_events = std::size_t{1} << 16, most_segments = 1024;

/// Codes the chunks of one stream (a node).  Threads: one at a time.  Memory: bounded (see memory()), independent of
/// the length of the run: a full dictionary is restarted.
class Encoder {
 public:
  /// Errors: std::invalid_argument for a bound out of range.
  explicit Encoder(TimeBound bound);
  ~Encoder();

  struct Coded {
    std::vector<std::byte> dictionary;  ///< a piece for Decoder::add, empty if the chunk needs nothing new
    std::vector<std::byte> events;      ///< the chunk
    std::size_t backwards = 0;          ///< events that precede their predecessor in time; they get its time
  };

  /// Codes a chunk.  The order of the events is kept; every time stamp is within the bound of the gap before it and of
  /// the gap after it, so that short calls next to long waits stay short.  Errors do not add up.
  /// @param events  at most most_events, in the order in which they happened
  /// Errors: std::invalid_argument; std::bad_alloc.  Cost: linear, no more than about 100 ns an event.
  Coded encode(const Place& place, std::span<const Event> events);

  /// A segment without a representative: its time stamps are stored.
  static constexpr std::int64_t in_full = -1;

  /// Which representative each segment of a chunk has.  Segments begin at the first event and at each `step`.
  struct Plan {
    /// [segments] in_full, or the number of a representative; numbers count from 0 over all chunks.  A representative
    /// has the symbols of its segments (what happens, with which ids and relative peers).
    std::vector<std::int64_t> representatives;
    /// The new ones, in the order of their numbers, which is also the order in which they first occur: for each, the
    /// times of its events since the first one, ascending from 0.
    std::vector<std::vector<std::int64_t>> added;
    std::vector<std::int64_t> forgotten;  ///< numbers that later chunks will not use
  };
  struct Reduced {
    Coded coded;                             ///< coded.events for Decoder::decode_reduced
    std::vector<std::byte> representatives;  ///< for Decoder::add_representatives, empty if none is new
    std::size_t segments = 0, rebuilt = 0;   ///< rebuilt: those with a representative
    std::int64_t largest_error_ns = 0;       ///< of the time stamps of rebuilt segments
    std::int64_t error90_ns = 0;             ///< of 90 % of them
  };

  /// Codes a chunk whose segments have the time stamps of their representatives, after their own begins.  The events
  /// themselves are stored for all segments, as encode() does.  The time in each region is kept to within 1 %.
  /// @param events  at most most_reduced_events, with at most most_segments segments
  /// @param end_ns  of the chunk: no stamp of its last segment is later
  /// Errors: as encode(); std::invalid_argument for a plan that does not fit.  Cost: linear.
  Reduced encode_reduced(const Place& place, std::span<const Event> events, std::int64_t end_ns, const Plan& plan);

  /// Bytes of memory in use.  Cost: linear in the dictionary.
  std::size_t held_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A chunk in which some segments have the time stamps of their representatives.
struct Rebuilt {
  std::vector<Event> events;
  std::size_t segments = 0, rebuilt = 0;              ///< rebuilt: those with a representative
  std::int64_t largest_error_ns = 0, error90_ns = 0;  ///< as the encoder found them, rounded up by at most a quarter
  struct Correction {
    std::uint32_t region = 0;
    std::int64_t ns = 0;  ///< to be added to the region's time in this chunk (without the regions inside it), as the
                          ///< events give it
  };
  std::vector<Correction> corrections;
};

/// Decodes the chunks of one stream.  Bytes are untrusted.  Threads: decode() from any number at a time, add() alone.
class Decoder {
 public:
  Decoder();
  ~Decoder();

  /// Takes a piece of the dictionary.  Call it in the order in which the encoder returned them.  A lost piece may be
  /// left out.  Chunks and pieces that need it are then refused; all others decode.
  /// Errors: TraceError; the piece then counts as lost.
  void add(std::span<const std::byte> dictionary);

  /// The events of a chunk; `place` must be that of its encoding.  Chunks decode in any order.
  /// Errors: TraceError.  Cost: linear in the events of the chunk and of at most 8 that its sequence is coded against;
  /// the latest sequences are cached, up to 15 MB.
  std::vector<Event> decode(const Place& place, std::span<const std::byte> events) const;

  /// Takes a piece of representatives.  The same rules hold as for add(); pieces of both kinds must come in the order
  /// in which they were made.
  void add_representatives(std::span<const std::byte> representatives);
  /// A chunk of encode_reduced().  Errors: TraceError.  Cost: linear in its events and those of the chunks that its
  /// representatives are from; the latest ones are cached, up to about 30 MB.
  Rebuilt decode_reduced(const Place& place, std::span<const std::byte> bytes) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace effort::trace
