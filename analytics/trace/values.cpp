// Events as symbols and values.
#include <algorithm>

#include "analytics/trace/structure.hpp"

namespace effort::trace {

namespace {

bool has_peer(Kind kind) {
  return kind == Kind::send || kind == Kind::send_start || kind == Kind::receive || kind == Kind::receive_start ||
         kind == Kind::receive_done || kind == Kind::one_sided;
}

bool starts(Kind kind) { return kind == Kind::send_start || kind == Kind::receive_start; }

bool has_id(Kind kind) {
  return has_peer(kind) || kind == Kind::enter || kind == Kind::leave || kind == Kind::collective ||
         kind == Kind::phase || kind == Kind::work;
}

}  // namespace

Symbol symbol_of(const Place& place, const Event& event) {
  Symbol symbol;
  symbol.kind = event.kind;
  if (has_id(event.kind)) symbol.id = event.id;
  if (has_peer(event.kind)) {
    // Even numbers are relative; 1 stands for "any or unknown".
    symbol.peer = event.peer < 0 ? 1 : 2 * (std::int64_t{event.peer} - place.rank);
  } else if (event.kind == Kind::collective) {
    symbol.peer = event.peer;
  }
  return symbol;
}

void Requests::start(std::uint32_t request) {
  // A number that is reused was free, even if no event said so.
  const auto stale = std::find(pending_.begin(), pending_.end(), request);
  if (stale != pending_.end()) {
    pending_.erase(stale);
  } else if (pending_.size() == most_pending) {
    end(0);
  }
  pending_.push_back(request);
}

std::uint64_t Requests::value_of_end(std::uint32_t request) {
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (pending_[i] != request) continue;
    end(i);
    return i;
  }
  return most_pending + std::uint64_t{request};  // it was started before the chunk
}

std::uint32_t Requests::end_of_value(std::uint64_t value) {
  if (value >= pending_.size()) return static_cast<std::uint32_t>(value - most_pending);
  const std::uint32_t request = pending_[static_cast<std::size_t>(value)];
  end(static_cast<std::size_t>(value));
  return request;
}

void Values::append(const Event& event, std::vector<std::uint64_t>& values) {
  for (const Value value : values_of(event.kind)) {
    switch (value) {
      case value_tag: values.push_back(static_cast<std::uint32_t>(event.tag)); break;
      case value_bytes:
        values.push_back(event.kind == Kind::step ? event.bytes - static_cast<std::uint64_t>(place_.first_step)
                                                  : event.bytes);
        break;
      case value_received: values.push_back(event.received_bytes); break;
      case value_request:
        values.push_back(starts(event.kind) ? event.request : requests_.value_of_end(event.request));
        if (starts(event.kind)) requests_.start(event.request);
        break;
    }
  }
}

Event Values::event(const Symbol& symbol, const std::uint64_t* values) {
  Event event;
  event.kind = symbol.kind;
  event.id = symbol.id;
  event.peer = -1;
  if (has_peer(symbol.kind) && symbol.peer != 1) {
    event.peer = static_cast<std::int32_t>(symbol.peer / 2 + place_.rank);
  } else if (symbol.kind == Kind::collective) {
    event.peer = static_cast<std::int32_t>(symbol.peer);
  }
  for (const Value value : values_of(symbol.kind)) {
    const std::uint64_t v = *values++;
    switch (value) {
      case value_tag: event.tag = static_cast<std::int32_t>(static_cast<std::uint32_t>(v)); break;
      case value_bytes:
        event.bytes = symbol.kind == Kind::step ? v + static_cast<std::uint64_t>(place_.first_step) : v;
        break;
      case value_received: event.received_bytes = v; break;
      case value_request:
        event.request = starts(symbol.kind) ? static_cast<std::uint32_t>(v) : requests_.end_of_value(v);
        if (starts(symbol.kind)) requests_.start(event.request);
        break;
    }
  }
  return event;
}

}  // namespace effort::trace
