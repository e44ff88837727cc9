// Function calls from any file that has some: recordings of libeffort_functions, files of `effort calls encode`, and
// raw streams.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/calls/contents.hpp"
#include "record/calls/file.hpp"
#include "record/calls/recording_file.hpp"

namespace effort::tools {

/// All streams of the inputs, one after the other.  Functions of several inputs are one list: a function is the same if
/// its address in the same build of a file is.  Errors of every member: FormatError, std::runtime_error,
/// std::system_error, naming the file.
class CallInput {
 public:
  /// @param inputs  files; directories stand for the recordings in them, in the order of ranks
  /// @param width  bytes of an id in raw streams, 2 or 4; 0: raw streams are refused
  CallInput(const std::vector<std::string>& inputs, unsigned width);

  const record::calls::Names& names() const { return names_; }
  /// Whether a function was left out from some moment on, because it was called too often; by id - 1.
  const std::vector<bool>& hot() const { return hot_; }
  /// What is missing.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Inputs that are raw streams have ids without names.
  bool has_names() const { return !names_.functions.empty(); }
  bool several_inputs() const { return inputs_.size() > 1; }
  /// The input that a stream is from.
  const std::string& input_of(std::size_t stream) const { return inputs_[input_of_[stream]]; }
  /// " of INPUT" if the same rank occurs in several inputs, which then are different runs.
  std::string run_text(std::size_t stream) const;

  void read(const effort::calls::EventSink& sink) const;
  /// The same with the times of stamps.
  void read_timed(const record::calls::TimedSink& sink) const;
  /// One stream.
  void read(std::size_t stream, const effort::calls::EventSink& sink) const;

 private:
  /// A file; the streams of a part follow those of the part before.
  struct Part {
    std::string path;
    std::unique_ptr<record::calls::CallsFile> coded;
    std::unique_ptr<record::calls::RecordingFile> recording;
    std::size_t first = 0, n = 0;    ///< streams
    std::vector<std::uint32_t> ids;  ///< by id in the file; empty: the same
  };
  void add_directory(const std::filesystem::path& path);
  void add(const std::filesystem::path& path);
  void add(const std::filesystem::path& path, std::unique_ptr<record::calls::RecordingFile> recording);
  void add_names(Part& part, const record::calls::Names& names, const std::vector<std::uint32_t>& flags);
  void read(const Part& part, std::optional<std::uint64_t> only, const effort::calls::EventSink& sink) const;
  void read_timed(const Part& part, const record::calls::TimedSink& sink) const;
  /// The events of a part with the ids of all parts.
  std::span<const std::uint32_t> translated(const Part& part, std::span<const std::uint32_t> events,
                                            std::vector<std::uint32_t>& room) const;

  unsigned width_;
  std::vector<std::string> inputs_;
  std::vector<std::size_t> input_of_;  ///< by stream
  bool several_runs_ = false;
  record::calls::Names names_;
  std::vector<bool> hot_;
  std::vector<std::string> notes_;
  std::vector<Part> parts_;
  std::map<std::string, std::uint32_t> modules_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> functions_;
};

}  // namespace effort::tools
