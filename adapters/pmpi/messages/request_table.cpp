#include "adapters/pmpi/messages/request_table.hpp"

#include <bit>

namespace effort::pmpi {
namespace {

constexpr int far_enough = 8;  // distance within which a request of the same thread is searched for

}  // namespace

/// Doubles the capacity.  On failure nothing has changed.
void RequestTable::grow() {
  const std::size_t room = requests_.empty() ? per_word : 2 * requests_.size();
  std::vector<std::uint32_t> buckets(room, none);
  requests_.reserve(room);
  taken_.reserve(room / per_word);
  const std::size_t before = requests_.size();
  std::vector<std::uint32_t> heads;
  heads.reserve(before);
  for (std::uint32_t head : buckets_)
    for (; head != none; head = requests_[head].next_) heads.push_back(head);
  requests_.resize(room);
  taken_.resize(room / per_word, 0);
  buckets_.swap(buckets);
  for (const std::uint32_t head : heads) {
    std::uint32_t& place = buckets_[bucket(requests_[head].handle_)];
    requests_[head].next_ = place;
    place = head;
  }
}

/// The place that holds the number of a handle's newest request; null if the handle has none.
std::uint32_t* RequestTable::place_of(Word handle) {
  for (std::uint32_t* at = &buckets_[bucket(handle)]; *at != none; at = &requests_[*at].next_)
    if (requests_[*at].handle_ == handle) return at;
  return nullptr;
}

void RequestTable::push(std::uint32_t number) {
  Request& request = requests_[number];
  if (std::uint32_t* const place = place_of(request.handle_)) {
    request.older_ = *place;
    request.next_ = requests_[*place].next_;
    request.alike_ = static_cast<std::uint16_t>(requests_[*place].alike_ + 1);
    *place = number;
    return;
  }
  std::uint32_t& head = buckets_[bucket(request.handle_)];
  request.older_ = none;
  request.next_ = head;
  request.alike_ = 0;
  head = number;
}

bool RequestTable::bind(std::uint32_t number, Word handle) {
  requests_[number].handle_ = handle;
  push(number);
  if (requests_[number].alike_ < most_alike) return true;
  claim(handle, requests_[number].thread);
  return false;
}

void RequestTable::put_back(std::uint32_t number) { push(number); }

std::uint32_t RequestTable::find(Word handle) const {
  std::uint32_t* const place = const_cast<RequestTable*>(this)->place_of(handle);
  return place ? *place : none;
}

std::uint32_t RequestTable::claim_one_of(Word handle, std::uint32_t thread) {
  std::uint32_t* const place = place_of(handle);
  if (!place) return none;
  const std::uint32_t newest = *place;
  std::uint32_t before = none, number = newest;
  for (int i = 0; i < far_enough && number != none && requests_[number].thread != thread; ++i) {
    before = number;
    number = requests_[number].older_;
  }
  if (number != none && number != newest && requests_[number].thread == thread) {
    requests_[before].older_ = requests_[number].older_;
    return number;
  }
  const Request& taken = requests_[newest];
  if (taken.older_ != none) {
    requests_[taken.older_].next_ = taken.next_;
    *place = taken.older_;
  } else {
    *place = taken.next_;
  }
  return newest;
}

}  // namespace effort::pmpi
