// The sequence of a program's events without their times, in a form in which equal steps are equal.  Internal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analytics/trace/event.hpp"

namespace effort::trace {

/// The part of an event that rarely changes when it recurs.  A peer of a message is relative to the rank itself, so
/// that ranks share symbols; a root is not.
struct Symbol {
  Kind kind = Kind::enter;
  std::uint32_t id = 0;
  std::int64_t peer = 0;

  friend bool operator==(const Symbol&, const Symbol&) = default;
};

/// The members of an event that vary from one occurrence of a symbol to the next.  Step numbers are relative to the
/// first step of the window; for requests see Requests.
enum Value : std::uint8_t { value_tag = 0, value_bytes = 1, value_received = 2, value_request = 3 };

namespace detail {
inline constexpr std::array message_values{value_tag, value_bytes, value_request};
inline constexpr std::array posted_values{value_tag, value_request};
inline constexpr std::array collective_values{value_bytes, value_received};
inline constexpr std::array request_values{value_request};
inline constexpr std::array amount_values{value_bytes};
}  // namespace detail

/// The values of a kind, in the order in which they are stored.
constexpr std::span<const Value> values_of(Kind kind) {
  switch (kind) {
    case Kind::send:
    case Kind::receive: return std::span(detail::message_values).first(2);
    case Kind::send_start:
    case Kind::receive_done: return detail::message_values;
    case Kind::receive_start: return detail::posted_values;
    case Kind::collective:
    case Kind::one_sided: return detail::collective_values;
    case Kind::send_done:
    case Kind::request_cancelled: return detail::request_values;
    case Kind::step:
    case Kind::work: return detail::amount_values;
    default: return {};
  }
}

/// A chunk without its time stamps.
struct Sequence {
  std::vector<std::uint32_t> symbols;  ///< numbers of symbols
  std::vector<std::uint64_t> values;   ///< of all events, one event after the other

  friend bool operator==(const Sequence&, const Sequence&) = default;
};

/// The kind of a symbol.  Errors: TraceError if the symbol is not known.
using KindOf = std::function<Kind(std::uint32_t symbol)>;

Symbol symbol_of(const Place& place, const Event& event);

/// The requests of a chunk that are pending.  A completion is described by the number of older pending requests, so
/// completions in the order of the starts are equal whatever the requests' numbers.
class Requests {
 public:
  void start(std::uint32_t request);
  std::uint64_t value_of_end(std::uint32_t request);
  std::uint32_t end_of_value(std::uint64_t value);

 private:
  static constexpr std::size_t most_pending = 256;

  void end(std::size_t at) { pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(at)); }

  std::vector<std::uint32_t> pending_;  ///< the oldest first
};

/// Translates between events and values.  Both directions need the events in order.
class Values {
 public:
  explicit Values(const Place& place) : place_(place) {}
  /// Appends an event's values.
  void append(const Event& event, std::vector<std::uint64_t>& values);
  /// Makes an event, except for its time, of a symbol and its values.
  Event event(const Symbol& symbol, const std::uint64_t* values);

 private:
  Place place_;
  Requests requests_;
};

/// Numbers of symbols that a sequence may use.
struct SymbolRange {
  std::uint32_t first = 0;  ///< first number of the dictionary's present generation
  std::uint32_t known = 0;  ///< the first number that earlier sequences did not use
  std::uint32_t end = 0;    ///< one past the last number; new ones occur in ascending order
};

/// Codes a sequence against an earlier one that is likely to be similar, which may be empty.
std::vector<std::byte> encode_sequence(const Sequence& base, const Sequence& sequence, SymbolRange range,
                                       const KindOf& kind);
/// @param length  number of events
/// Errors: TraceError.
Sequence decode_sequence(const Sequence& base, std::size_t length, SymbolRange range, const KindOf& kind,
                         std::span<const std::byte> bytes);

}  // namespace effort::trace
