// An OTF2 archive that is being written: files and definitions.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/trace/model/trace.hpp"
#include "tools/trace/otf2/library.hpp"

namespace effort::tools::otf2 {

/// The number of a rank of MPI_COMM_WORLD in a communicator that `own` uses; ranks of an intercommunicator's other
/// group follow those of the first. -1: it is not a member.
std::int64_t local_rank(const TraceCommunicator& communicator, std::int32_t world_rank, std::int32_t own);

/// Writes DIRECTORY/traces.otf2 and its files.  First the events of all threads, then finish().
/// Errors: std::runtime_error naming the archive.
class Writer {
 public:
  static constexpr OTF2_ParameterRef step = 0, phase_name = 1, rebalance = 2;

  Writer(const Trace& trace, const std::string& directory);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  OTF2_EvtWriter* events(std::size_t thread);
  void close_events(std::size_t thread);
  /// The string of a phase's name.
  OTF2_StringRef phase(std::uint32_t index) const { return phase_strings_[index]; }
  /// The group of a communicator's members.
  OTF2_GroupRef group(std::uint32_t communicator) const { return groups_[communicator]; }
  /// Requests a definition of the window that stands for all windows of a communicator.
  void use_window(std::uint32_t communicator) { windows_.insert(communicator); }
  /// Ticks are nanoseconds, from the earliest event.
  OTF2_TimeStamp time(std::int64_t ns) const {
    return ns > first_ns_ ? static_cast<OTF2_TimeStamp>(ns - first_ns_) : 0;
  }
  void check(OTF2_ErrorCode code) {
    if (code != OTF2_SUCCESS) fail(code, messages_, name_, "write");
  }
  /// Writes all definitions and closes the archive.
  void finish();

 private:
  void find_times();
  void number_groups();
  /// (rank, thread) of all locations: those of the trace, and the first thread of every rank.
  std::set<std::pair<std::int32_t, std::int32_t>> threads() const;
  bool is_self(std::uint32_t communicator) const;
  OTF2_StringRef string(const std::string& text);
  void write_clock();
  void write_system();
  void write_regions();
  void write_communicators();
  void write_windows();
  void write_other();
  void write_properties();

  const Trace& trace_;
  Messages messages_;
  std::string name_;
  OTF2_Archive* archive_ = nullptr;
  OTF2_GlobalDefWriter* definitions_ = nullptr;
  std::int64_t first_ns_ = 0, last_ns_ = 0;
  std::vector<std::uint64_t> written_;  ///< [threads] records
  std::vector<OTF2_StringRef> phase_strings_;
  std::unordered_map<std::string, OTF2_StringRef> strings_;
  std::set<std::uint32_t> windows_;
  std::vector<OTF2_GroupRef> groups_;  ///< [communicators]
};

}  // namespace effort::tools::otf2
