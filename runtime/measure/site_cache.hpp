// The cache of a call site of the host.  It holds the id of its region, for one session.
#pragma once

#include <cstdint>

namespace effort::measure {

inline constexpr int site_id_bits = 14;

/// The value for a call site's cache; -1 if the session's number is too large for one.  Such sessions look names up at
/// every call.  A number that wraps would let a call site use an id that it has kept from an earlier session.
/// @param id  from 1, below 2^site_id_bits
constexpr std::int32_t to_site_cache(std::uint64_t session, std::uint32_t id) noexcept {
  constexpr std::uint64_t sessions = std::uint64_t{1} << (31 - site_id_bits);
  return session < sessions ? static_cast<std::int32_t>(session << site_id_bits | id) : -1;
}

/// The id that was cached in this session; 0 if there is none.
constexpr std::uint32_t from_site_cache(std::int32_t cached, std::uint64_t session) noexcept {
  if (cached <= 0 || static_cast<std::uint64_t>(cached) >> site_id_bits != session) return 0;
  return static_cast<std::uint32_t>(cached) & ((1u << site_id_bits) - 1);
}

}  // namespace effort::measure
