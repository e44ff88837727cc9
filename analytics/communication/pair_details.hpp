// The messages between two ranks: sizes, times, and which ones could be sent together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analytics/communication/operations.hpp"

namespace effort::communication {

/// The time of a message as a function of its size: t = a + b n.
struct TransferFit {
  bool known = false;      ///< whether there are at least two sizes, and larger messages take longer
  double latency_ns = 0;   ///< a; without two sizes, the median time
  double ns_per_byte = 0;  ///< b
  double spread_ns = 0;    ///< median absolute deviation of the times from the fit

  /// Below this size, latency dominates: a / b; 0 if not known.
  double knee_bytes() const { return known && ns_per_byte > 0 && latency_ns > 0 ? latency_ns / ns_per_byte : 0; }
};

/// A robust fit: the slope is the median of the slopes between the median times of all pairs of sizes (Theil 1950, Sen
/// 1968), each weighted by the smaller number of messages; the intercept is the median of t - b n, at least 0.  If
/// there are more than 256 sizes, 256 evenly spaced ones are used.
/// @param bytes, ns  [messages] sizes and times
/// Cost: O(messages log messages + sizes^2).
TransferFit fit_transfers(std::span<const std::uint64_t> bytes, std::span<const double> ns);

/// A message of the pair.
struct PairMessage {
  std::size_t message = 0;  ///< index in Record::messages
  bool from_a = true;
  std::int64_t ns = -1;  ///< from the start of the send to the end of the receive; -1: not known
  bool outlier = false;  ///< modified Z-score of its deviation from the fit above 3.5 (Iglewicz & Hoaglin 1993)
};

/// Messages that one rank sent to the other within one step, which could have been one message.
struct Pack {
  bool from_a = true;
  std::uint32_t path = none;   ///< of the first of them
  std::uint64_t packs = 0;     ///< groups of such messages
  std::uint64_t messages = 0;  ///< in all groups
  std::uint64_t bytes = 0;     ///< in all groups
  double gain_ns = 0;          ///< latencies saved: one for each message except the first of its group
};

struct PairDetails {
  std::vector<PairMessage> messages;  ///< ordered by time
  TransferFit fit;
  std::vector<Pack> packs;  ///< the largest gain first
};

/// Messages are small if they are below the knee of the fit.  Two or more small ones from one rank to the other within
/// a step (without steps: between two collectives of the sender) could be packed into one.
/// @param a, b  ranks, in any order
/// @param path_of_call  [calls] CallTree::of_call
/// Cost: O(all messages + those of the pair log).
PairDetails pair_details(const Record& record, std::int32_t a, std::int32_t b,
                         const std::vector<std::uint32_t>& path_of_call);

}  // namespace effort::communication
