#include "record/calls/file.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "analytics/codec/codec.hpp"
#include "record/calls/format.hpp"
#include "record/reader.hpp"

namespace effort::record::calls {

namespace {

using format::Bytes;
using format::View;
using record::format::put_signed;
using record::format::put_varint;

void append_to(Bytes& out, const Bytes& bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

void put_text(Bytes& out, const std::string& text) {
  const std::size_t n = std::min<std::size_t>(text.size(), format::most_text);
  put_varint(out, n);
  for (const char c : text.substr(0, n)) out.push_back(static_cast<std::byte>(c));
}

Bytes names_payload(const Names& names) {
  Bytes out;
  put_varint(out, names.width);
  put_varint(out, names.modules.size());
  for (const Module& m : names.modules) {
    put_text(out, m.name);
    put_text(out, m.build_id);
    put_text(out, m.path);
  }
  put_varint(out, names.functions.size());
  std::uint64_t before = 0;
  for (const Function& f : names.functions) {
    put_varint(out, f.module);
    put_signed(out, static_cast<std::int64_t>(f.offset - before));
    before = f.offset;
  }
  put_varint(out, names.streams.size());
  for (const Stream& s : names.streams) {
    put_signed(out, s.rank);
    put_varint(out, s.process);
    put_varint(out, s.thread);
    put_varint(out, s.events);
    put_varint(out, s.left_out);
    put_text(out, s.label);
  }
  return out;
}

std::string text_of(record::format::Cursor& in) {
  const View text = in.take(in.varint(format::most_text, "the length of a text"));
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

/// The length of a list whose elements have at least a byte each.
std::uint64_t length_of(record::format::Cursor& in, std::uint64_t most, const char* what) {
  return in.varint(std::min<std::uint64_t>(most, in.left()), what);
}

Names parse_names(View payload) {
  record::format::Cursor in(payload);
  Names names;
  names.width = static_cast<std::uint32_t>(in.varint(4, "the width of ids"));
  if (names.width != 2 && names.width != 4)
    throw std::runtime_error("the width of ids is " + std::to_string(names.width) + ", not 2 or 4");
  names.modules.resize(length_of(in, format::most_functions, "the number of modules"));
  for (Module& m : names.modules) {
    m.name = text_of(in);
    m.build_id = text_of(in);
    m.path = text_of(in);
  }
  names.functions.resize(length_of(in, format::most_functions, "the number of functions"));
  std::uint64_t before = 0;
  for (Function& f : names.functions) {
    f.module = static_cast<std::uint32_t>(in.varint(names.modules.size(), "the module of a function"));
    if (f.module >= names.modules.size()) throw std::runtime_error("a function's module does not exist");
    f.offset = before += static_cast<std::uint64_t>(in.signed_varint());
  }
  names.streams.resize(length_of(in, format::most_streams, "the number of streams"));
  for (Stream& s : names.streams) {
    s.rank = in.signed_varint();
    s.process = in.varint();
    s.thread = in.varint();
    s.events = in.varint();
    s.left_out = in.varint();
    s.label = text_of(in);
  }
  in.finish();
  return names;
}

constexpr std::uint64_t most_events = ~std::uint64_t{0} - 1;

}  // namespace

FileMaker::FileMaker() : bytes_(record::format::chunk_file_header(format::magic, format::major, format::minor, 0)) {}

void FileMaker::begin(std::uint64_t stream) {
  encoder_.begin_run(stream);
  in_block_ = true;
}

void FileMaker::append(std::uint64_t stream, std::span<const std::uint32_t> events, std::uint32_t every,
                       std::span<const std::uint64_t> gaps) {
  if (stream >= events_.size()) {
    if (stream != events_.size()) throw std::invalid_argument("streams are appended one after the other");
    end_times();
    stamp_every_ = every;
    stamps_ = effort::calls::StampFinder(every);
    events_.push_back(0);
    begin(stream);
  } else if (stream + 1 != events_.size()) {
    throw std::invalid_argument("streams are appended one after the other");
  }
  for (std::size_t i = 0, g = 0; i < events.size() && every > 0; ++i) {
    if (!stamps_.next(events[i]) || g == gaps.size()) continue;
    times_.put(stamps_.context(), gaps[g++]);
    if (times_.count() == format::most_stamps) end_times();
  }
  events_.back() += events.size();
  while (!events.empty()) {
    if (!in_block_) begin(stream);
    events = events.subspan(encoder_.append(events));
    if (!events.empty()) end_block();
  }
}

void FileMaker::end_block() {
  append_to(bytes_, format::framed(format::type_block, encoder_.finish()));
  in_block_ = false;
}

void FileMaker::end_times() {
  if (times_.count() == 0) return;
  Bytes out;
  put_varint(out, events_.size() - 1);
  put_varint(out, stamp_every_);
  put_varint(out, times_.count());
  append_to(out, times_.finish());
  append_to(bytes_, format::framed(format::type_times, out));
}

std::vector<std::byte> FileMaker::finish(Names names) {
  if (in_block_) end_block();
  end_times();
  events_.resize(names.streams.size());
  for (std::size_t i = 0; i < events_.size(); ++i) names.streams[i].events = events_[i];
  append_to(bytes_, format::framed(format::type_names, names_payload(names)));
  return std::move(bytes_);
}

bool is_calls_file(std::span<const std::byte> bytes) {
  return bytes.size() >= format::magic.size() &&
         std::ranges::equal(bytes.first(format::magic.size()), format::magic,
                            [](std::byte a, unsigned char b) { return std::to_integer<unsigned char>(a) == b; });
}

CallsFile::CallsFile(std::vector<std::byte> bytes, std::string name)
    : bytes_(std::move(bytes)), name_(std::move(name)) {
  const View all(bytes_);
  if (!is_calls_file(all))
    throw FormatError("this is not a file of calls", name_, 0,
                      "name a file of `effort calls encode`, which ends in .calls");
  if (all.size() < format::header_bytes)
    throw FormatError("the file is truncated within its header", name_, all.size(), "copy it again");
  if (record::format::get<std::uint64_t>(all, 16) != record::format::hash(all.first(16)))
    throw FormatError("the header is damaged", name_, 0, "copy the file again");
  const auto major = record::format::get<std::uint16_t>(all, 8);
  if (major != format::major || record::format::get<std::uint32_t>(all, 12) != 0)
    throw FormatError("the file has format version " + std::to_string(major) + " or features that this version (" +
                          std::to_string(format::major) + ") does not know",
                      name_, 8, "use the effort command of the version that wrote it");
  bool named = false;
  for (std::size_t at = format::header_bytes; at < all.size();) {
    const View rest = all.subspan(at);
    const std::optional<format::Frame> frame = format::get_frame(rest);
    if (!frame) throw FormatError("the file is damaged or truncated", name_, at, "encode the calls again");
    if (frame->length > rest.size() - format::frame_bytes)
      throw FormatError("the file is truncated", name_, all.size(), "copy it again");
    const View payload = rest.subspan(format::frame_bytes, frame->length);
    if (record::format::hash(payload) != frame->hash)
      throw FormatError("the checksum of a part is wrong", name_, at, "copy the file again");
    if (frame->type == format::type_block) {
      blocks_.push_back({at + format::frame_bytes, frame->length});
    } else if (frame->type == format::type_times) {
      add_times(payload, at);
    } else if (frame->type == format::type_names) {
      try {
        names_ = parse_names(payload);
      } catch (const std::runtime_error& e) {
        throw FormatError(e.what(), name_, at, "encode the calls again");
      }
      named = true;
    }
    at += format::frame_bytes + frame->length;
  }
  if (!named) throw FormatError("the list of streams is missing", name_, all.size(), "copy the file again");
  for (std::size_t i = 0; i < std::min(stamp_every_.size(), names_.streams.size()); ++i)
    names_.streams[i].stamp_every = stamp_every_[i];
}

void CallsFile::add_times(View payload, std::size_t offset) {
  try {
    record::format::Cursor in(payload);
    const std::uint64_t stream = in.varint(format::most_streams, "the stream of time stamps");
    const auto every =
        static_cast<std::uint32_t>(in.varint(effort::calls::most_stamp_every, "the distance of time stamps"));
    const std::uint64_t stamps = in.varint(format::most_stamps, "the number of time stamps");
    if (every == 0) throw std::runtime_error("the distance of time stamps is 0");
    if (stream + 1 < stamp_every_.size()) throw std::runtime_error("the time stamps are not in the order of streams");
    stamp_every_.resize(stream + 1);
    if (stamp_every_[stream] != 0 && stamp_every_[stream] != every)
      throw std::runtime_error("the distance of time stamps changes within a stream");
    stamp_every_[stream] = every;
    const std::size_t before = offset + format::frame_bytes + in.at();
    times_.push_back({stream, stamps, {before, in.left()}});
  } catch (const std::runtime_error& e) {
    throw FormatError(e.what(), name_, offset, "encode the calls again");
  }
}

/// The times of stamps, in the order of the file.
class CallsFile::TimesReader {
 public:
  explicit TimesReader(const CallsFile& file) : file_(file) {}

  /// Of the next event with a stamp, if it is in the file.
  bool next(std::uint64_t stream, std::uint32_t context, std::uint64_t& gap) {
    while (left_ == 0 || stream_ != stream) {  // stamps of events that do not exist are passed over
      while (part_ < file_.times_.size() && file_.times_[part_].stream < stream) ++part_;
      if (part_ == file_.times_.size() || file_.times_[part_].stream != stream) return false;
      const Times& times = file_.times_[part_++];
      left_ = times.stamps;
      stream_ = times.stream;
      decoder_.emplace(std::span(file_.bytes_).subspan(times.coded.offset, times.coded.size));
    }
    gap = decoder_->next(context);
    if (decoder_->overran())
      throw FormatError("the time stamps are damaged", file_.name_, file_.times_[part_ - 1].coded.offset,
                        "encode the calls again");
    --left_;
    return true;
  }

 private:
  const CallsFile& file_;
  std::size_t part_ = 0;
  std::uint64_t left_ = 0, stream_ = 0;
  std::optional<effort::calls::GapDecoder> decoder_;
};

void CallsFile::read_timed(const TimedSink& sink) const {
  TimesReader times(*this);
  std::optional<std::uint64_t> current;
  effort::calls::StampFinder stamps;
  std::vector<std::uint64_t> gaps;
  read([&](std::uint64_t stream, std::span<const std::uint32_t> events) {
    const std::uint32_t every = names_.streams[stream].stamp_every;
    if (current != stream) stamps = effort::calls::StampFinder(every);
    current = stream;
    gaps.clear();
    std::uint64_t gap;
    if (every > 0)
      for (const std::uint32_t event : events)
        if (stamps.next(event) && times.next(stream, stamps.context(), gap)) gaps.push_back(gap);
    sink(stream, events, gaps);
  });
}

void CallsFile::read(const effort::calls::EventSink& sink, std::optional<std::uint64_t> only) const {
  std::vector<std::uint64_t> seen(names_.streams.size());
  std::uint64_t current = 0;
  const auto take = [&](const Block& block, std::uint64_t stream, std::span<const std::uint32_t> events) {
    if (stream < current || stream >= seen.size())
      throw FormatError("the streams are not in order", name_, block.offset, "encode the calls again");
    current = stream;
    seen[stream] += events.size();
    if (seen[stream] > names_.streams[stream].events)
      throw FormatError("a stream has more events than its list says", name_, block.offset, "encode the calls again");
    sink(stream, events);
  };
  for (const Block& block : blocks_) {
    const auto bytes = std::span(bytes_).subspan(block.offset, block.size);
    try {
      effort::calls::decode_block(
          bytes, most_events,
          [&](std::uint64_t stream, std::span<const std::uint32_t> events) { take(block, stream, events); }, only);
    } catch (const codec::CodecError& e) {
      throw FormatError("the calls are damaged: " + std::string(e.what()) + " of the part", name_, block.offset,
                        "encode the calls again");
    }
  }
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i] != names_.streams[i].events && (!only || i == *only))
      throw FormatError("stream " + std::to_string(i) + " has " + std::to_string(seen[i]) + " events instead of " +
                            std::to_string(names_.streams[i].events),
                        name_, bytes_.size(), "copy the file again");
}

}  // namespace effort::record::calls
