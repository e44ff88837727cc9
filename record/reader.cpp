#include "record/reader.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "record/format.hpp"
#include "record/metadata.hpp"
#include "record/part.hpp"
#include "record/source.hpp"

namespace effort::record {

using format::Bytes;
using format::Entry;

FormatError::FormatError(const std::string& problem, const std::string& file, std::uint64_t offset,
                         const std::string& remedy)
    : std::runtime_error(problem + " (file '" + file + "', byte " + std::to_string(offset) + "): " + remedy),
      offset_(offset) {}

namespace {

constexpr const char* copy_again = "copy the file again";
constexpr const char* newer = "read it with a newer effort";

bool starts_with(const Bytes& bytes, std::size_t at, const std::array<unsigned char, 8>& text) {
  return std::equal(text.begin(), text.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    [](unsigned char a, std::byte b) { return std::byte{a} == b; });
}

bool known(const Entry& e) {
  const bool type = e.type == format::type_run || e.type == format::type_windows || e.type == format::type_strata ||
                    e.type == format::type_moves || e.type == format::type_path || e.type == format::type_tiles ||
                    e.type == format::type_shared || e.type == format::type_exact || e.type == format::type_traffic;
  return type && e.version == format::section_version && (e.flags & ~(format::flag_required | format::flag_zstd)) == 0;
}

bool of_a_node(const Entry& e) {
  return e.type == format::type_tiles || e.type == format::type_exact || e.type == format::type_traffic;
}

}  // namespace

struct Reader::State {
  std::unique_ptr<Source> source;
  std::string name;
  std::uint16_t major = 0, minor = 0;
  std::vector<Entry> entries;
  std::vector<SectionInfo> sections;
  std::optional<Run> run;

  [[noreturn]] void refuse(const std::string& problem, std::uint64_t offset, const char* remedy = copy_again) const {
    throw FormatError(problem, name, offset, remedy);
  }

  /// Reads bytes of the file; errors are reported with the offset.
  Bytes read(std::uint64_t offset, std::uint64_t count) const {
    try {
      return source->read(offset, count);
    } catch (const std::system_error&) {
      throw;
    } catch (const std::runtime_error& e) {
      refuse(e.what(), offset);
    }
  }

  void open() {
    const std::uint64_t size = source->size();
    check_header(size);
    const Bytes index = check_footer(size);
    add_entries(index);
    check_order();
  }

  void check_header(std::uint64_t size) {
    const Bytes header = read(0, std::min<std::uint64_t>(size, format::header_bytes));
    const std::size_t comparable = std::min<std::size_t>(header.size(), format::magic.size());
    for (std::size_t i = 0; i < comparable; ++i) {
      if (header[i] != std::byte{format::magic[i]})
        refuse("this is not an effort snapshot", i, "pass a file that the library wrote, NAME-JOB-STEP.effort");
    }
    if (size < format::header_bytes + format::footer_bytes) refuse("the snapshot is cut short", size);
    if (format::get<std::uint64_t>(header, 16) != format::hash(format::View(header).first(16)))
      refuse("the header's checksum does not match", 8);
    major = format::get<std::uint16_t>(header, 8);
    minor = format::get<std::uint16_t>(header, 10);
    const std::string version = std::to_string(major) + "." + std::to_string(minor);
    if (major > format::major)
      refuse("the snapshot has format version " + version + ", but this program reads up to " +
                 std::to_string(format::major),
             8, newer);
    if (major < format::major) refuse("the snapshot has format version " + version + ", which does not exist", 8);
    if (format::get<std::uint32_t>(header, 12) != 0)
      refuse("the snapshot uses features that this program does not know", 12, newer);
  }

  Bytes check_footer(std::uint64_t size) {
    const std::uint64_t at = size - format::footer_bytes;
    const Bytes footer = read(at, format::footer_bytes);
    if (!starts_with(footer, 32, format::end_magic))
      refuse("the snapshot is cut short or its end is damaged", size - format::end_magic.size());
    if (format::get<std::uint64_t>(footer, 24) != format::hash(format::View(footer).first(24)))
      refuse("the footer's checksum does not match", at);
    const auto start = format::get<std::uint64_t>(footer, 0);
    const auto count = format::get<std::uint64_t>(footer, 8);
    if (start < format::header_bytes || start > at || count != (at - start) / format::entry_bytes ||
        (at - start) % format::entry_bytes != 0) {
      refuse("the snapshot is cut short or lengthened: its index does not end where the footer begins", at);
    }
    Bytes index = read(start, at - start);
    if (format::get<std::uint64_t>(footer, 16) != format::hash(index))
      refuse("the index's checksum does not match", start);
    return index;
  }

  void add_entries(const Bytes& index) {
    const std::uint64_t index_at = source->size() - format::footer_bytes - index.size();
    std::uint64_t offset = format::header_bytes;
    for (std::size_t at = 0; at < index.size(); at += format::entry_bytes) {
      const Entry e = format::get_entry(index, at);
      const bool required = e.flags & format::flag_required;
      if (e.stored > index_at - offset) refuse("a section extends beyond the start of the index", index_at + at);
      if (required && !known(e))
        refuse("the snapshot holds a section '" + format::type_text(e.type) +
                   "' that is required, but unknown to this program",
               index_at + at, newer);
      entries.push_back(e);
      sections.push_back({format::type_text(e.type), e.key, required, offset, e.stored});
      offset += e.stored;
    }
    if (offset != index_at) refuse("bytes before the index belong to no section", offset);
  }

  /// Checks that there is one section of every type that describes the run, and at most one set of tiles per node,
  /// ascending, or one set for all nodes.
  void check_order() const {
    std::int64_t last = -1;
    std::map<std::uint32_t, int> count;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!known(entries[i])) continue;
      if (++count[entries[i].type] > 1 && !of_a_node(entries[i]))
        refuse("the snapshot holds two sections '" + sections[i].type + "'", sections[i].offset);
      if (entries[i].type != format::type_tiles) continue;
      if (entries[i].key <= last) refuse("the nodes' tiles are not in the order of the nodes", sections[i].offset);
      last = entries[i].key;
    }
    if (count[format::type_shared] == 1 && last >= 0)
      refuse("the snapshot holds the histories of all nodes more than once", format::header_bytes);
    if (count[format::type_run] != 1) refuse("the snapshot does not describe one run", format::header_bytes);
  }

  /// Runs a decoder of section i, and reports its errors with the section's offset.
  template <typename Function>
  auto guarded(std::size_t i, Function&& function) const {
    try {
      return function();
    } catch (const std::runtime_error& e) {
      refuse(std::string(e.what()) + " in section '" + sections[i].type + "'", sections[i].offset);
    }
  }

  /// The section's content, after verifying its checksum.
  Bytes content(std::size_t i) const {
    Bytes stored = checked(i);
    return guarded(i, [&] { return format::unpack(entries[i], std::move(stored)); });
  }

  Bytes checked(std::size_t i) const {
    Bytes stored = read(sections[i].offset, entries[i].stored);
    if (format::hash(stored) != entries[i].hash) {
      refuse("the checksum of section '" + sections[i].type + "' (" + std::to_string(entries[i].stored) +
                 " bytes) does not match",
             sections[i].offset);
    }
    return stored;
  }

  template <typename Function>
  void each(std::uint32_t type, Function&& function) const {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].type == type && known(entries[i])) function(i);
    }
  }

  const Run& load_run() {
    if (run) return *run;
    Run fresh;
    std::size_t described = 0;
    const auto decode = [&](std::uint32_t type, void (*decoder)(format::View, Run&)) {
      each(type, [&](std::size_t i) {
        const Bytes raw = content(i);
        guarded(i, [&] { decoder(raw, fresh); });
        if (type == format::type_run) described = i;
      });
    };
    decode(format::type_run, decode_run);
    decode(format::type_windows, decode_windows);
    decode(format::type_strata, decode_strata);
    decode(format::type_moves, decode_moves);
    decode(format::type_path, [](format::View raw, Run& out) { out.step_loads.assign(raw.begin(), raw.end()); });
    guarded(described, [&] { check(fresh); });
    return run.emplace(std::move(fresh));
  }

  /// The node of a node's section, which must exist.
  std::int32_t node_of(std::size_t i) {
    if (entries[i].key >= static_cast<std::uint32_t>(load_run().nodes))
      refuse("section '" + sections[i].type + "' belongs to a node that does not exist", sections[i].offset);
    return static_cast<std::int32_t>(entries[i].key);
  }

  std::vector<Tile> tiles_at(std::size_t i) {
    node_of(i);  // of all nodes: 0
    const Bytes raw = content(i);
    return guarded(i, [&] { return decode_tiles(raw, *run); });
  }

  Traffic traffic_at(std::size_t i) {
    node_of(i);
    const Bytes raw = content(i);
    return guarded(i, [&] { return decode_traffic(raw, *run); });
  }

  ExactBlock exact_at(std::size_t i) {
    const std::int32_t node = node_of(i);
    const Bytes raw = content(i);
    return guarded(i, [&] { return decode_exact(raw, *run, node); });
  }
};

Reader::Reader(const std::filesystem::path& path) : state_(std::make_unique<State>()) {
  state_->name = path.string();
  state_->source = open_file(path);
  state_->open();
}

Reader::Reader(std::vector<std::byte> bytes, std::string name) : state_(std::make_unique<State>()) {
  state_->name = std::move(name);
  state_->source = from_memory(std::move(bytes));
  state_->open();
}

Reader::~Reader() = default;

const Run& Reader::run() { return state_->load_run(); }

void Reader::verify() {
  run();
  for (std::size_t i = 0; i < state_->entries.size(); ++i) {
    const Entry& e = state_->entries[i];
    if (!known(e)) {
      state_->checked(i);
    } else if (e.type == format::type_tiles || e.type == format::type_shared) {
      state_->tiles_at(i);
    } else if (e.type == format::type_exact) {
      state_->exact_at(i);
    } else if (e.type == format::type_traffic) {
      state_->traffic_at(i);
    }
  }
}

std::vector<std::int32_t> Reader::nodes() const {
  std::vector<std::int32_t> out;
  state_->each(format::type_shared, [&](std::size_t) { out.push_back(all_nodes); });
  state_->each(format::type_tiles, [&](std::size_t i) { out.push_back(state_->node_of(i)); });
  return out;
}

std::vector<Tile> Reader::tiles(std::int32_t node) {
  std::vector<Tile> out;
  state_->each(node == all_nodes ? format::type_shared : format::type_tiles, [&](std::size_t i) {
    if (node == all_nodes || state_->entries[i].key == static_cast<std::uint32_t>(node)) out = state_->tiles_at(i);
  });
  return out;
}

void Reader::each_exact(const std::function<void(std::int32_t, const ExactBlock&)>& take) {
  state_->each(format::type_exact, [&](std::size_t i) { take(state_->node_of(i), state_->exact_at(i)); });
}

Traffic Reader::traffic(std::int32_t node) {
  Traffic out;
  state_->each(format::type_traffic, [&](std::size_t i) {
    if (state_->entries[i].key == static_cast<std::uint32_t>(node)) out = state_->traffic_at(i);
  });
  return out;
}

const std::vector<SectionInfo>& Reader::sections() const noexcept { return state_->sections; }
std::uint64_t Reader::size() const noexcept { return state_->source->size(); }
const std::string& Reader::name() const noexcept { return state_->name; }
std::uint16_t Reader::format_major() const noexcept { return state_->major; }
std::uint16_t Reader::format_minor() const noexcept { return state_->minor; }

}  // namespace effort::record
