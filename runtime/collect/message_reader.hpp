// Extracts a rank's messages from the records in its trace memory, to find waits for late senders.
#pragma once

#include "analytics/communication/late_senders.hpp"
#include "runtime/recording/memory.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace effort::engine {

/// Reads the messages of one rank, step after step.
class MessageReader {
 public:
  /// Called by read().
  struct Translate {
    std::function<std::int64_t(std::uint64_t ticks)> ns;             ///< on the clock of the parts
    std::function<std::int64_t(std::uint32_t communicator)> global;  ///< the run's id for the rank's id; < 0: unknown
    std::function<std::string(std::uint32_t region)> call;           ///< name of an MPI call; "": unknown so far
  };
  /// Seconds in calls that sent or received something, in one step.
  struct Inside {
    std::int64_t step;
    double seconds;
  };

  MessageReader(recording::Memory memory, Translate translate) : memory_(memory), translate_(std::move(translate)) {}

  /// Reads on up to the end of the step `last`, into parts() and inside().  If the end of that step is not known,
  /// nothing is read now.  Time: linear in the trace memory that the steps take.
  /// @return false if records have been lost since the last call; parts() then has those that followed
  bool read(std::int64_t last);
  const std::vector<communication::MessagePart>& parts() const { return parts_; }
  const std::vector<Inside>& inside() const { return inside_; }

 private:
  /// A function or region that a thread is in, or has just left.
  struct Call {
    std::uint32_t region = 0;
    std::uint64_t begin = 0, end = 0;  ///< ticks
    bool has_messages = false;
  };
  struct Thread {
    std::vector<Call> stack;
    Call left;
    Call probe;  ///< the last blocking one, if nothing was received since; else without a duration
  };

  void see(Thread& thread, const recording::Word* record, std::uint64_t now);
  void leave(Thread& thread, std::uint32_t region, std::uint64_t now);
  void add_message(Thread& thread, const recording::Word* record, std::uint64_t now);
  void add_inside(const Call& call);
  std::int64_t step_of(std::uint64_t ticks) const;
  bool is_probe(std::uint32_t region);

  recording::Memory memory_;
  Translate translate_;
  std::uint64_t from_ = 0;      ///< ticks up to which records have been read
  std::int64_t next_step_ = 0;  ///< the first one whose end has not been read
  std::uint64_t unrecorded_ = 0;
  std::map<std::uint32_t, Thread> threads_;
  enum class Probes : std::uint8_t { unknown, no, yes };
  std::vector<Probes> probes_;                                ///< by region
  std::vector<std::pair<std::uint64_t, std::int64_t>> ends_;  ///< of the steps that are read: ticks, step
  std::vector<communication::MessagePart> parts_;
  std::vector<Inside> inside_;
};

}  // namespace effort::engine
