#include "record/calls/recording_file.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "analytics/calls/live.hpp"
#include "analytics/calls/stamps.hpp"
#include "record/calls/recording.hpp"
#include "record/reader.hpp"

namespace effort::record::calls {

namespace layout = recording;

namespace {

template <typename T>
T at(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// Passes events on in pieces.
class Pieces {
 public:
  explicit Pieces(const std::function<void(std::span<const std::uint32_t>)>& sink) : sink_(sink), events_(room) {}
  void put(std::uint32_t event) {
    events_[n_++] = event;
    if (n_ == room) flush();
  }
  void flush() {
    if (n_ > 0) sink_(std::span(events_).first(n_));
    n_ = 0;
  }

 private:
  static constexpr std::size_t room = std::size_t{1} << 15;
  const std::function<void(std::span<const std::uint32_t>)>& sink_;
  std::vector<std::uint32_t> events_;
  std::size_t n_ = 0;
};

/// Reads numbers of at most `most_bits` bits, and refuses bytes that are none.
template <typename Refuse>
std::uint64_t read_number(std::span<const std::byte> bytes, std::size_t& at, std::size_t end, int most_bits,
                          const Refuse& refuse) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < most_bits && at < end; shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(bytes[at++]);
    value |= (byte & 127) << shift;
    if (byte < 128) return value;
  }
  refuse(at);
  return 0;
}

std::string hexadecimal(const char* bytes, std::size_t n) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i)
    for (const int shift : {4, 0}) out += "0123456789abcdef"[static_cast<unsigned char>(bytes[i]) >> shift & 15];
  return out;
}

}  // namespace

bool is_recording(std::span<const std::byte> bytes) {
  return bytes.size() >= layout::magic.size() &&
         std::memcmp(bytes.data(), layout::magic.data(), layout::magic.size()) == 0;
}

std::vector<std::byte> settled(std::vector<std::byte> first, std::span<const std::byte> second) {
  if (first.size() < layout::header_bytes || second.size() < first.size() || std::ranges::equal(first, second))
    return first;
  const auto each_chunk = [](std::size_t end, const auto& visit) {
    for (std::size_t o = layout::header_bytes; o + layout::chunk_bytes <= end; o += layout::chunk_bytes) visit(o);
  };
  const auto is_of_thread = [](const layout::ChunkHeader& chunk) {
    return chunk.kind == layout::calls || chunk.kind == layout::stamps;
  };
  // The chunk that a thread fills is its first one in the file.  The others are full and no longer change.
  struct Chunks {
    std::size_t filling = SIZE_MAX;
    std::int64_t last_full = -1;  // at the time of the first copy
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Chunks> chunks;  // by kind and thread
  const std::size_t end = first.size();
  each_chunk(end, [&](std::size_t o) {
    const auto a = at<layout::ChunkHeader>(first, o), b = at<layout::ChunkHeader>(second, o);
    for (const layout::ChunkHeader& chunk : {a, b}) {
      if (!is_of_thread(chunk)) continue;
      std::size_t& filling = chunks[{chunk.kind, chunk.thread}].filling;
      filling = std::min(filling, o);
    }
    if (!is_of_thread(a)) return;
    Chunks& of_thread = chunks[{a.kind, a.thread}];
    const std::int64_t before = o == of_thread.filling ? 1 : 0;  // the size may be older than this chunk
    of_thread.last_full = std::max<std::int64_t>(of_thread.last_full, a.sequence - before);
  });
  first.resize(second.size());
  each_chunk(second.size(), [&](std::size_t o) {
    const auto a = at<layout::ChunkHeader>(first, o), b = at<layout::ChunkHeader>(second, o);
    const Chunks of_thread = is_of_thread(b) ? chunks[{b.kind, b.thread}] : Chunks{};
    const bool is_filling = o == of_thread.filling;
    // One that was filled again meanwhile may be a mixture.
    if (is_filling && a.kind == b.kind && a.sequence == b.sequence) return;
    // The first copy may have calls of functions whose entries were written after their place had been copied.
    if (!is_of_thread(b) || (!is_filling && b.sequence <= of_thread.last_full))
      std::memcpy(&first[o], &second[o], layout::chunk_bytes);
    else
      std::memset(&first[o], 0, layout::chunk_bytes);
  });
  auto header = at<layout::Header>(second, 0);
  header.chunks = static_cast<std::uint32_t>((end - layout::header_bytes) / layout::chunk_bytes);
  std::memcpy(first.data(), &header, sizeof header);
  return first;
}

void RecordingFile::refuse(const std::string& problem, std::size_t offset) const {
  throw FormatError(problem, name_, offset, "copy the file again");
}

RecordingFile::RecordingFile(std::vector<std::byte> bytes, std::string name)
    : bytes_(std::move(bytes)), name_(std::move(name)) {
  if (!is_recording(bytes_))
    throw FormatError("this is not a recording of calls", name_, 0, "name a file that ends in .rec");
  if (bytes_.size() < layout::header_bytes) refuse("the recording is truncated within its header", bytes_.size());
  const auto header = at<layout::Header>(bytes_, 0);
  if (header.version != layout::version || header.chunk_bytes != layout::chunk_bytes)
    throw FormatError("the recording has version " + std::to_string(header.version) + ", which this version (" +
                          std::to_string(layout::version) + ") does not know",
                      name_, 8, "use the effort command of the version that wrote it");
  find_chunks();
}

std::uint64_t RecordingFile::started_unix_ns() const { return at<layout::Header>(bytes_, 0).started_unix_ns; }

std::uint64_t RecordingFile::missing_chunks() const {
  const std::uint64_t taken = at<layout::Header>(bytes_, 0).chunks;
  const std::uint64_t there = (bytes_.size() - layout::header_bytes) / layout::chunk_bytes;
  return taken - std::min(taken, there);
}

void RecordingFile::find_chunks() {
  const auto header = at<layout::Header>(bytes_, 0);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint32_t, std::size_t>> found;
  std::set<std::size_t> full;  // copies of chunks that also occur before
  for (std::size_t o = layout::header_bytes; o + layout::chunk_bytes <= bytes_.size(); o += layout::chunk_bytes) {
    const auto chunk = at<layout::ChunkHeader>(bytes_, o);
    if (chunk.kind == layout::unused) continue;
    if (chunk.kind > layout::stamps) refuse("a chunk is of unknown kind " + std::to_string(chunk.kind), o);
    auto& chunks = found[{chunk.kind, chunk.thread}];
    const auto [same, is_new] = chunks.try_emplace(chunk.sequence, o);
    if (is_new) continue;
    // A process that was killed between writing a copy of a full chunk and filling that chunk again leaves both.
    const bool was_full =
        chunk.kind >= layout::calls && same == std::prev(chunks.end()) && !full.contains(same->second);
    if (!was_full) refuse("a chunk occurs twice", o);
    same->second = o;
    full.insert(o);
  }
  std::vector<std::size_t> function_chunks, module_chunks;
  std::map<std::uint32_t, std::vector<std::size_t>> stamps;  // by thread
  for (const auto& [key, sequence] : found) {
    std::vector<std::size_t> chunks;
    for (const auto& [number, offset] : sequence) {
      if (number != chunks.size()) {
        if (key.first >= layout::calls && missing_chunks() > 0) break;  // the chunk being filled is not at the end
        refuse("a chunk is missing before this one", offset);
      }
      chunks.push_back(offset);
    }
    if (chunks.empty()) continue;
    if (key.first == layout::functions && key.second == 0)
      function_chunks = std::move(chunks);
    else if (key.first == layout::modules && key.second == 0)
      module_chunks = std::move(chunks);
    else if (key.first == layout::calls)
      threads_.push_back({key.second, std::move(chunks), {}});
    else if (key.first == layout::stamps)
      stamps[key.second] = std::move(chunks);
  }
  if (!stamps.empty() && (header.stamp_every == 0 || header.stamp_every > effort::calls::most_stamp_every))
    refuse("there are time stamps, but no record of which calls they belong to", 56);
  read_modules(header.modules, module_chunks);
  read_functions(header.functions, function_chunks);
  for (Thread& thread : threads_) {
    thread.stamps = std::move(stamps[thread.number]);
    const auto last = at<layout::ChunkHeader>(bytes_, thread.chunks.back());
    Stream s;
    s.rank = header.rank;
    s.process = header.process;
    s.thread = thread.number;
    s.left_out = last.left_out + last.skipped;
    if (!thread.stamps.empty()) s.stamp_every = header.stamp_every;
    names_.streams.push_back(s);
  }
}

void RecordingFile::read_modules(std::uint32_t n, const std::vector<std::size_t>& chunks) {
  if (n > chunks.size() * layout::modules_per_chunk) refuse("modules are missing", bytes_.size());
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::size_t o = chunks[i / layout::modules_per_chunk] + sizeof(layout::ChunkHeader) +
                          i % layout::modules_per_chunk * sizeof(layout::ModuleEntry);
    const auto entry = at<layout::ModuleEntry>(bytes_, o);
    if (entry.path_bytes > sizeof entry.path || entry.build_id_bytes > sizeof entry.build_id)
      refuse("the name of a module is damaged", o);
    const std::string path(entry.path, entry.path_bytes);
    names_.modules.push_back(
        {path.substr(path.find_last_of('/') + 1), path, hexadecimal(entry.build_id, entry.build_id_bytes)});
  }
}

void RecordingFile::read_functions(std::uint32_t n, const std::vector<std::size_t>& chunks) {
  if (n >= layout::other_functions || n > chunks.size() * layout::functions_per_chunk)
    refuse("functions are missing", bytes_.size());
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::size_t o = chunks[i / layout::functions_per_chunk] + sizeof(layout::ChunkHeader) +
                          i % layout::functions_per_chunk * sizeof(layout::FunctionEntry);
    const auto entry = at<layout::FunctionEntry>(bytes_, o);
    if (entry.module >= names_.modules.size()) refuse("the module of a function does not exist", o);
    names_.functions.push_back({entry.module, entry.offset});
    flags_.push_back(entry.flags);
  }
}

void RecordingFile::read(std::size_t stream, const std::function<void(std::span<const std::uint32_t>)>& sink) const {
  const Thread& thread = threads_.at(stream);
  const auto predictor = std::make_unique<effort::calls::LivePredictor>();
  Pieces pieces(sink);
  const auto expected_events = [&](std::uint64_t n, std::size_t offset) {
    for (; n > 0; --n) {
      bool known;
      const effort::calls::LiveEvent event = predictor->expected(known);
      if (!known) refuse("a record counts predicted events, but there is nothing to predict from", offset);
      predictor->add(event);
      pieces.put(event);
    }
  };
  for (std::size_t c = 0; c < thread.chunks.size(); ++c) {
    const std::size_t begin = thread.chunks[c] + sizeof(layout::ChunkHeader);
    const auto chunk = at<layout::ChunkHeader>(bytes_, thread.chunks[c]);
    const std::uint64_t used = chunk.state >> layout::run_bits;
    if (used > layout::room) refuse("a chunk has more records than room", thread.chunks[c]);
    std::size_t o = begin;
    const std::size_t end = begin + used;
    const auto damaged = [&](std::size_t where) { refuse("a record is damaged", where); };
    while (o < end) {
      const std::size_t record = o;
      const std::uint64_t head = read_number(bytes_, o, end, layout::run_bits + 2, damaged);
      expected_events(head >> 1, record);
      const std::uint64_t event = (head & 1) != 0 ? read_number(bytes_, o, end, 21, damaged) : predictor->second();
      if (event > names_.functions.size() && event != layout::other_functions)
        refuse("a record has the id " + std::to_string(event) + ", which was never defined", record);
      predictor->add(static_cast<effort::calls::LiveEvent>(event));
      pieces.put(static_cast<std::uint32_t>(event));
    }
    if (c + 1 == thread.chunks.size())
      expected_events(chunk.state & ((std::uint64_t{1} << layout::run_bits) - 1), thread.chunks[c]);
  }
  pieces.flush();
}

void RecordingFile::read_timed(std::size_t stream, const TimedSink& sink) const {
  const std::vector<std::size_t>& chunks = threads_.at(stream).stamps;
  std::size_t c = 0, o = 0, end = 0;  // the present chunk, and the rest of it
  const auto next = [&](std::uint64_t& gap) {
    while (o == end) {
      if (c == chunks.size()) return false;
      const std::uint64_t used = at<layout::ChunkHeader>(bytes_, chunks[c]).state >> layout::run_bits;
      if (used > layout::room) refuse("a chunk has more time stamps than room", chunks[c]);
      o = chunks[c++] + sizeof(layout::ChunkHeader);
      end = o + used;
    }
    gap = read_number(bytes_, o, end, 64, [&](std::size_t where) { refuse("a time stamp is damaged", where); });
    return true;
  };
  const std::uint32_t every = names_.streams[stream].stamp_every;
  effort::calls::StampFinder stamps(every);
  std::vector<std::uint64_t> gaps;
  read(stream, [&](std::span<const std::uint32_t> events) {
    gaps.clear();
    std::uint64_t gap;
    if (every > 0)
      for (const std::uint32_t event : events)
        if (stamps.next(event) && next(gap)) gaps.push_back(gap);
    sink(stream, events, gaps);
  });
}

}  // namespace effort::record::calls
