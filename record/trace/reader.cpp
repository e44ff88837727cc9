#include "record/trace/reader.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "analytics/trace/coder.hpp"
#include "record/reader.hpp"
#include "record/source.hpp"
#include "record/trace/format.hpp"

namespace effort::record::trace {

namespace {

using effort::trace::Decoder;
using effort::trace::Rebuilt;
using effort::trace::TraceError;

}  // namespace

struct Reader::State {
  std::unique_ptr<Source> source;
  std::string name;
  Header header;
  Names names;
  std::vector<Modules::Module> modules;
  std::vector<Window> windows;
  std::vector<EventsInfo> chunks;
  std::vector<Clock> clocks;
  std::vector<End> ends;
  bool has_ends = false;
  std::vector<Problem> problems;
  std::map<std::int32_t, Decoder> decoders;
  std::map<std::pair<std::int32_t, std::int64_t>, std::size_t> window_index;  ///< by node and window
  std::uint64_t members = 0;                                                  ///< of all communicators

  State(std::unique_ptr<Source> from, std::string named) : source(std::move(from)), name(std::move(named)) {
    read_start();
    read_chunks();
  }

  [[noreturn]] void refuse(const std::string& problem, std::uint64_t offset, const std::string& remedy) const {
    throw FormatError(problem, name, offset, remedy);
  }
  void skip(std::uint64_t offset, const std::string& problem) {
    // The list stays shorter than the file, whatever is in it.
    if (problems.size() < 10'000)
      problems.push_back({offset, name + ", offset " + std::to_string(offset) + ": " + problem});
  }

  void read_start() {
    const std::uint64_t n = std::min<std::uint64_t>(source->size(), format::header_bytes);
    const format::Bytes start = source->read(0, n);
    for (std::size_t i = 0; i < format::magic.size(); ++i) {
      if (i >= start.size() || std::to_integer<unsigned char>(start[i]) != format::magic[i])
        refuse("this is not a trace file of effort", 0, "name the directory NAME-JOB.trace or a .trc file in it");
    }
    if (start.size() < format::header_bytes)
      refuse("the file is truncated within its header", start.size(), "copy it again");
    const format::View view(start);
    if (record::format::get<std::uint64_t>(view, 16) != record::format::hash(view.first(16)))
      refuse("the header is damaged", 0, "copy it again");
    const auto major = record::format::get<std::uint16_t>(view, 8);
    if (major != format::major || (record::format::get<std::uint32_t>(view, 12) & ~format::known_features) != 0) {
      refuse("the file has format version " + std::to_string(major) + " or features that this version (" +
                 std::to_string(format::major) + ") does not know",
             8, "use the effort command of the version that wrote it");
    }
    has_ends = record::format::get<std::uint16_t>(view, 10) >= format::minor_with_end;
  }

  void read_chunks() {
    std::uint64_t at = format::header_bytes;
    bool first = true;
    while (at < source->size()) {
      const std::optional<format::Frame> frame = frame_at(at);
      if (first && (!frame || frame->type != format::type_header))
        refuse("the description of the run is damaged", at, "copy the file again");
      if (!frame) {
        const std::uint64_t next = next_frame(at + 1);
        skip(at, next == source->size() ? "the last " + std::to_string(next - at) +
                                              " bytes are an incomplete chunk, "
                                              "perhaps because the writer was killed; they are skipped"
                                        : std::to_string(next - at) + " bytes are damaged and skipped");
        at = next;
        continue;
      }
      take(at, *frame, first);
      first = false;
      at += format::frame_bytes + frame->length;
    }
    if (first) refuse("the file ends before the description of the run", at, "copy it again");
  }

  /// A frame whose payload is within the file.
  std::optional<format::Frame> frame_at(std::uint64_t at) const {
    if (source->size() - at < format::frame_bytes) return std::nullopt;
    const std::optional<format::Frame> frame = format::get_frame(source->read(at, format::frame_bytes));
    if (frame && frame->length > source->size() - at - format::frame_bytes) return std::nullopt;
    return frame;
  }

  /// Offset of the next frame at or after `at`, or the file's size.
  std::uint64_t next_frame(std::uint64_t at) const {
    constexpr std::uint64_t piece = 1 << 16;
    for (; at < source->size(); at += piece) {
      const std::uint64_t n = std::min(piece + format::frame_bytes - 1, source->size() - at);
      const format::Bytes bytes = source->read(at, n);
      for (std::uint64_t i = 0; i < piece && i + format::frame_bytes <= n; ++i) {
        const std::optional<format::Frame> frame = format::get_frame(format::View(bytes).subspan(i));
        if (frame && frame->length <= source->size() - at - i - format::frame_bytes) return at + i;
      }
    }
    return source->size();
  }

  void take(std::uint64_t at, const format::Frame& frame, bool first) {
    const format::Bytes payload = source->read(at + format::frame_bytes, frame.length);
    const std::string type = record::format::type_text(frame.type);
    try {
      if (record::format::hash(payload) != frame.hash) throw std::runtime_error("its checksum is wrong");
      keep(at, frame, payload);
    } catch (const std::runtime_error& e) {
      if (first)
        refuse(std::string("the description of the run is damaged (") + e.what() + ")", at, "copy the file again");
      skip(at, "a chunk " + type + " is damaged (" + e.what() + ") and skipped");
    }
  }

  void keep(std::uint64_t at, const format::Frame& frame, format::View payload) {
    switch (frame.type) {
      case format::type_header:
        if (at == format::header_bytes) header = format::parse_header(payload);
        break;
      case format::type_names: add(format::parse_names(payload)); break;
      case format::type_modules: {
        Modules m = format::parse_modules(payload);
        modules.insert(modules.end(), std::make_move_iterator(m.modules.begin()),
                       std::make_move_iterator(m.modules.end()));
        break;
      }
      case format::type_dictionary: {
        const Dictionary d = format::parse_dictionary(payload);
        decoders[d.node].add(d.coded);
        break;
      }
      case format::type_window: {
        windows.push_back(format::parse_window(payload));
        window_index[{windows.back().node, windows.back().window}] = windows.size() - 1;
        break;
      }
      case format::type_representatives: {
        const Representatives r = format::parse_representatives(payload);
        decoders[r.node].add_representatives(r.coded);
        break;
      }
      case format::type_events:
      case format::type_reduced: {
        const Events e = format::parse_events(payload, false);
        const bool reduced = frame.type == format::type_reduced;
        chunks.push_back({e.node, e.window, e.rank, e.thread, e.events, at, reduced});
        break;
      }
      case format::type_clock: clocks.push_back(format::parse_clock(payload)); break;
      case format::type_end: ends.push_back(format::parse_end(payload)); break;
      default: break;  // of a later minor version
    }
  }

  void add(Names more) {
    for (const Names::Communicator& c : more.communicators) members += c.members.size() + c.remote.size();
    if (members > static_cast<std::uint64_t>(format::most_ranks))
      throw std::runtime_error("the communicators have too many members");
    const auto move = [](auto& from, auto& to) {
      to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    };
    move(more.regions, names.regions);
    move(more.phases, names.phases);
    move(more.units, names.units);
    move(more.communicators, names.communicators);
  }

  const Window* window_of(const EventsInfo& chunk) const {
    const auto found = window_index.find({chunk.node, chunk.window});
    return found == window_index.end() ? nullptr : &windows[found->second];
  }

  Rebuilt rebuilt(const EventsInfo& chunk) const {
    const char* const remedy = "copy the file again";
    const Window* window = window_of(chunk);
    if (window == nullptr) refuse("the description of the window of a chunk of events is lost", chunk.offset, remedy);
    try {
      const std::optional<format::Frame> frame = frame_at(chunk.offset);
      if (!frame || frame->type != (chunk.reduced ? format::type_reduced : format::type_events))
        throw TraceError("the file has changed");
      const format::Bytes payload = source->read(chunk.offset + format::frame_bytes, frame->length);
      if (record::format::hash(payload) != frame->hash) throw TraceError("the file has changed");
      const Events e = format::parse_events(payload, true);
      const auto decoder = decoders.find(chunk.node);
      if (decoder == decoders.end()) throw TraceError("the node's dictionary is lost");
      const Place place{chunk.rank, chunk.thread, window->first_step, window->start_ns};
      Rebuilt out;
      if (chunk.reduced)
        out = decoder->second.decode_reduced(place, e.coded);
      else
        out.events = decoder->second.decode(place, e.coded);
      if (!std::all_of(out.events.begin(), out.events.end(),
                       [](const Event& event) { return format::is_time(event.time_ns); }))
        throw TraceError("a time is more than 18 years from the start");
      return out;
    } catch (const TraceError& e) {
      refuse("a chunk of events of rank " + std::to_string(chunk.rank) + " cannot be decoded (" + e.what() + ")",
             chunk.offset, remedy);
    }
  }
};

Reader::Reader(const std::filesystem::path& path) : state_(std::make_unique<State>(open_file(path), path.string())) {}
Reader::Reader(std::vector<std::byte> bytes, std::string name)
    : state_(std::make_unique<State>(from_memory(std::move(bytes)), std::move(name))) {}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

const Header& Reader::header() const { return state_->header; }
const Names& Reader::names() const { return state_->names; }
const std::vector<Modules::Module>& Reader::modules() const { return state_->modules; }
const std::vector<Window>& Reader::windows() const { return state_->windows; }
const std::vector<EventsInfo>& Reader::chunks() const { return state_->chunks; }
const std::vector<Clock>& Reader::clocks() const { return state_->clocks; }
const std::vector<End>& Reader::ends() const { return state_->ends; }
bool Reader::has_ends() const { return state_->has_ends; }
const std::vector<Problem>& Reader::problems() const { return state_->problems; }
const Window* Reader::window_of(const EventsInfo& chunk) const { return state_->window_of(chunk); }
Rebuilt Reader::rebuilt(const EventsInfo& chunk) const { return state_->rebuilt(chunk); }
std::uint64_t Reader::size() const { return state_->source->size(); }
const std::string& Reader::name() const { return state_->name; }

}  // namespace effort::record::trace
