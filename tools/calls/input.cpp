#include "tools/calls/input.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <system_error>
#include <tuple>

#include "record/calls/recording.hpp"
#include "tools/calls/raw_stream.hpp"
#include "tools/files/inputs.hpp"
#include "tools/files/raw_file.hpp"

namespace effort::tools {

namespace {

namespace fs = std::filesystem;

std::vector<std::byte> first_bytes(const fs::path& path) {
  std::vector<std::byte> start;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) throw std::system_error(errno, std::generic_category(), "cannot open '" + path.string() + "'");
  start.resize(8);
  start.resize(std::fread(start.data(), 1, start.size(), file.get()));
  return start;
}

/// A recording, as it was at one moment even if its process is running.
std::unique_ptr<record::calls::RecordingFile> read_recording(const fs::path& path) {
  std::vector<std::byte> first = read_bytes(path);
  return std::make_unique<record::calls::RecordingFile>(record::calls::settled(std::move(first), read_bytes(path)),
                                                        path.string());
}

/// Whether a recording has no header yet.
bool is_unbegun(std::span<const std::byte> start) {
  return std::all_of(start.begin(), start.end(), [](std::byte b) { return b == std::byte{0}; });
}

/// "; 'x/app-1.functions' in it has some": those that a directory may have been mistaken for.
std::string near_miss(const fs::path& directory) {
  for (const fs::directory_entry& entry : fs::directory_iterator(directory))
    if (entry.path().extension() == ".functions" && entry.is_directory())
      return "; '" + entry.path().string() + "' may have some";
  return "";
}

}  // namespace

CallInput::CallInput(const std::vector<std::string>& inputs, unsigned width) : width_(width), inputs_(inputs) {
  names_.width = width == 4 ? 4 : 2;
  std::map<std::int64_t, std::size_t> input_of_rank;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    fs::is_directory(inputs[i]) ? add_directory(inputs[i]) : add(inputs[i]);
    for (std::size_t s = input_of_.size(); s < names_.streams.size(); ++s) {
      input_of_.push_back(i);
      const std::int64_t rank = names_.streams[s].rank;
      several_runs_ = several_runs_ || (rank >= 0 && input_of_rank.emplace(rank, i).first->second != i);
    }
  }
  if (names_.functions.size() > 65535) names_.width = 4;
}

std::string CallInput::run_text(std::size_t stream) const {
  return several_runs_ ? " of " + inputs_[input_of_[stream]] : "";
}

void CallInput::add_directory(const fs::path& directory) {
  bool found = false;
  std::vector<std::pair<fs::path, std::unique_ptr<record::calls::RecordingFile>>> recordings;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() != ".rec") continue;
    found = true;
    if (is_unbegun(first_bytes(entry.path())))
      add(entry.path());  // which says so
    else
      recordings.emplace_back(entry.path(), read_recording(entry.path()));
  }
  if (!found)
    throw std::runtime_error("the directory '" + directory.string() + "' has no recordings (.rec): name another one" +
                             near_miss(directory));
  // By rank; a child of fork(), or a program after exec(), follows the process before it.
  const auto place = [](const auto& r) {
    const std::vector<record::calls::Stream>& streams = r.second->names().streams;
    return std::tuple(streams.empty() ? -1 : streams[0].rank, r.second->started_unix_ns(), r.first);
  };
  std::sort(recordings.begin(), recordings.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  for (auto& [path, recording] : recordings) {
    count_as_input(path);
    add(path, std::move(recording));
  }
}

void CallInput::add(const fs::path& path) {
  count_as_input(path);
  const std::vector<std::byte> start = first_bytes(path);
  if (path.extension() == ".rec" && is_unbegun(start)) {
    notes_.push_back("'" + path.string() +
                     "' is empty: its process ended before its first call was recorded, or has only just begun");
    return;
  }
  if (record::calls::is_recording(start)) return add(path, read_recording(path));
  Part part;
  part.path = path.string();
  part.first = names_.streams.size();
  if (record::calls::is_calls_file(start)) {
    part.coded = std::make_unique<record::calls::CallsFile>(read_bytes(path), part.path);
    names_.width = std::max(names_.width, part.coded->names().width);
    add_names(part, part.coded->names(), {});
  } else {
    if (width_ == 0)
      throw std::runtime_error(
          "'" + part.path +
          "' is neither a file of calls nor a recording (byte 0): give --width if it is a raw stream");
    record::calls::Stream stream;
    stream.label = path.filename().string();
    names_.streams.push_back(std::move(stream));
  }
  part.n = names_.streams.size() - part.first;
  parts_.push_back(std::move(part));
}

void CallInput::add(const fs::path& path, std::unique_ptr<record::calls::RecordingFile> recording) {
  Part part;
  part.path = path.string();
  part.first = names_.streams.size();
  part.recording = std::move(recording);
  if (const std::uint64_t missing = part.recording->missing_chunks(); missing > 0)
    notes_.push_back("'" + part.path + "' ends at byte " + std::to_string(part.recording->bytes()) + ", before " +
                     std::to_string(missing) +
                     " of its blocks, whose calls are missing: the file was cut short, or its process ended while it "
                     "grew; copy it again if the original is longer");
  add_names(part, part.recording->names(), part.recording->flags());
  part.n = names_.streams.size() - part.first;
  parts_.push_back(std::move(part));
}

void CallInput::add_names(Part& part, const record::calls::Names& names, const std::vector<std::uint32_t>& flags) {
  names_.streams.insert(names_.streams.end(), names.streams.begin(), names.streams.end());
  if (names.functions.empty()) return;
  std::vector<std::uint32_t> modules;
  for (const record::Module& m : names.modules) {
    const auto [found, is_new] =
        modules_.emplace(m.name + '\n' + (m.build_id.empty() ? m.path : m.build_id), names_.modules.size());
    if (is_new) names_.modules.push_back(m);
    modules.push_back(found->second);
  }
  part.ids.push_back(0);
  for (std::size_t i = 0; i < names.functions.size(); ++i) {
    const record::calls::Function f{modules[names.functions[i].module], names.functions[i].offset};
    const auto [found, is_new] = functions_.emplace(std::pair{f.module, f.offset}, names_.functions.size() + 1);
    if (is_new) {
      names_.functions.push_back(f);
      hot_.push_back(false);
    }
    part.ids.push_back(found->second);
    if (i < flags.size() && (flags[i] & record::calls::recording::hot) != 0) hot_[found->second - 1] = true;
  }
}

void CallInput::read(const effort::calls::EventSink& sink) const {
  for (const Part& part : parts_) read(part, {}, sink);
}

void CallInput::read(std::size_t stream, const effort::calls::EventSink& sink) const {
  for (const Part& part : parts_)
    if (stream >= part.first && stream < part.first + part.n) read(part, stream - part.first, sink);
}

std::span<const std::uint32_t> CallInput::translated(const Part& part, std::span<const std::uint32_t> events,
                                                     std::vector<std::uint32_t>& room) const {
  if (part.ids.empty()) return events;
  room.assign(events.begin(), events.end());
  for (std::uint32_t& event : room)
    event = event < part.ids.size() ? part.ids[event] : static_cast<std::uint32_t>(names_.functions.size()) + 1;
  return room;
}

void CallInput::read(const Part& part, std::optional<std::uint64_t> only, const effort::calls::EventSink& sink) const {
  std::vector<std::uint32_t> room;
  const auto pass = [&](std::size_t stream, std::span<const std::uint32_t> events) {
    sink(part.first + stream, translated(part, events, room));
  };
  if (part.coded) {
    part.coded->read(pass, only);
  } else if (part.recording) {
    for (std::size_t i = 0; i < part.n; ++i)
      if (!only || i == *only) part.recording->read(i, [&](std::span<const std::uint32_t> events) { pass(i, events); });
  } else {
    read_raw_calls(part.path, width_, [&](std::span<const std::uint32_t> events) { pass(0, events); });
  }
}

void CallInput::read_timed(const record::calls::TimedSink& sink) const {
  for (const Part& part : parts_) read_timed(part, sink);
}

void CallInput::read_timed(const Part& part, const record::calls::TimedSink& sink) const {
  std::vector<std::uint32_t> room;
  const auto pass = [&](std::size_t stream, std::span<const std::uint32_t> events,
                        std::span<const std::uint64_t> gaps) {
    sink(part.first + stream, translated(part, events, room), gaps);
  };
  if (part.coded) {
    part.coded->read_timed(pass);
  } else if (part.recording) {
    for (std::size_t i = 0; i < part.n; ++i) part.recording->read_timed(i, pass);
  } else {
    read_raw_calls(part.path, width_, [&](std::span<const std::uint32_t> events) { pass(0, events, {}); });
  }
}

}  // namespace effort::tools
