#include "record/writer.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <utility>

#include "record/format.hpp"
#include "record/metadata.hpp"
#include "record/part.hpp"

namespace effort::record {

namespace {

using format::Bytes;
using format::Entry;
using format::View;

/// A section, in a part or in a buffer of the encoder.
struct Section {
  Entry entry;
  View payload;
};

void append_section(Bytes& out, std::uint32_t type, std::uint32_t key, Bytes raw) {
  Entry entry;
  entry.type = type;
  entry.key = key;
  const Bytes stored = format::pack(entry, std::move(raw));
  format::put_entry(out, entry);
  out.insert(out.end(), stored.begin(), stored.end());
}

/// A part consists of entries, each followed by its payload.
void collect(View part, const Run& run, std::vector<Section>& sections) {
  std::size_t at = 0;
  while (at < part.size()) {
    if (part.size() - at < format::entry_bytes)
      throw std::invalid_argument("a node's part is truncated (within an entry): pass the result of encode_part");
    Entry entry = format::get_entry(part, at);
    at += format::entry_bytes;
    const bool known = entry.type == format::type_tiles || entry.type == format::type_shared ||
                       entry.type == format::type_exact || entry.type == format::type_traffic;
    if (!known || entry.stored > part.size() - at)
      throw std::invalid_argument("a node's part is damaged (no such section): pass the result of encode_part");
    if (entry.key >= static_cast<std::uint32_t>(run.nodes)) {
      throw std::invalid_argument("a part belongs to node " + std::to_string(entry.key) + " (the run has " +
                                  std::to_string(run.nodes) + "): number nodes from 0 as in the placement");
    }
    // Required, because readers that do not know it would show a run without loads.
    if (entry.type == format::type_shared) entry.flags |= format::flag_required;
    sections.push_back({entry, part.subspan(at, entry.stored)});
    at += entry.stored;
  }
}

/// Histories before exact windows before traffic, each by node; equal keys keep their order.
void sort_sections(std::vector<Section>& sections) {
  const auto order = [](const Section& s) {
    const bool histories = s.entry.type == format::type_tiles || s.entry.type == format::type_shared;
    return std::pair(histories ? 0 : s.entry.type == format::type_exact ? 1 : 2, s.entry.key);
  };
  std::stable_sort(sections.begin(), sections.end(),
                   [&](const Section& a, const Section& b) { return order(a) < order(b); });
  for (std::size_t i = 1; i < sections.size(); ++i) {
    if (sections[i - 1].entry.type == format::type_shared && order(sections[i]).first == 0)
      throw std::invalid_argument("histories of all nodes and of single nodes are mixed: pass one kind only");
    if (sections[i].entry.type == format::type_tiles && order(sections[i]) == order(sections[i - 1])) {
      throw std::invalid_argument("node " + std::to_string(sections[i].entry.key) +
                                  " has two sets of tiles: pass one part per node");
    }
  }
}

Bytes header() {
  Bytes out;
  for (unsigned char c : format::magic) out.push_back(static_cast<std::byte>(c));
  format::put(out, format::major);
  format::put(out, format::minor);
  format::put(out, std::uint32_t{0});
  format::put(out, format::hash(out));
  return out;
}

void append_index(Bytes& out, const std::vector<Section>& sections) {
  Bytes index;
  index.reserve(sections.size() * format::entry_bytes);
  for (const Section& s : sections) format::put_entry(index, s.entry);
  Bytes footer;
  format::put(footer, static_cast<std::uint64_t>(out.size()));
  format::put(footer, static_cast<std::uint64_t>(sections.size()));
  format::put(footer, format::hash(index));
  format::put(footer, format::hash(footer));
  for (unsigned char c : format::end_magic) footer.push_back(static_cast<std::byte>(c));
  out.insert(out.end(), index.begin(), index.end());
  out.insert(out.end(), footer.begin(), footer.end());
}

std::string clean(const std::string& text) {
  std::string out = text.substr(0, 100);
  for (char& c : out) {
    const bool keep = std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '+' || c == '-';
    if (!keep || static_cast<unsigned char>(c) >= 0x80) c = '_';
  }
  if (!out.empty() && out[0] == '.') out[0] = '_';
  return out.empty() ? "run" : out;
}

}  // namespace

namespace {

/// Sorts tiles in the order of the series.
std::vector<Tile> sorted(std::vector<Tile> tiles) {
  std::sort(tiles.begin(), tiles.end(), [](const Tile& a, const Tile& b) { return a.series < b.series; });
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (tiles[i].first_step < 0)
      throw std::invalid_argument("a tile's first step is negative (series " + std::to_string(tiles[i].series) +
                                  "): count steps from 0");
    if (i > 0 && tiles[i].series == tiles[i - 1].series)
      throw std::invalid_argument("series " + std::to_string(tiles[i].series) + " has two tiles on one node: pass one");
  }
  return tiles;
}

}  // namespace

std::vector<std::byte> encode_united(const std::vector<Tile>& tiles) {
  Bytes out;
  append_section(out, format::type_shared, 0, encode_tiles(sorted(tiles)));
  return out;
}

std::vector<std::byte> encode_part(const NodePart& part) {
  const std::vector<Tile> tiles = sorted(part.tiles);
  Bytes out;
  if (!tiles.empty())
    append_section(out, format::type_tiles, static_cast<std::uint32_t>(part.node), encode_tiles(tiles));
  for (const ExactBlock& block : part.exact) {
    const auto row = static_cast<std::size_t>(std::max(block.steps, 0)) * block.series.size();
    const bool fits =
        block.first_step >= 0 && block.steps >= 0 && (row == 0 ? block.values.empty() : block.values.size() % row == 0);
    if (!fits)
      throw std::invalid_argument("an exact block of " + std::to_string(block.values.size()) +
                                  " values does not have series x ranks x steps values: pass whole windows");
    append_section(out, format::type_exact, static_cast<std::uint32_t>(part.node), encode_exact(block));
  }
  if (!part.traffic.flows.empty())
    append_section(out, format::type_traffic, static_cast<std::uint32_t>(part.node), encode_traffic(part.traffic));
  return out;
}

std::vector<std::byte> encode(const Run& run, std::span<const std::vector<std::byte>> parts) {
  try {
    check(run);
  } catch (const std::runtime_error& e) {
    throw std::invalid_argument(std::string(e.what()) + " (snapshot of step " + std::to_string(run.steps) +
                                "): complete the run's description first");
  }
  Bytes described;
  append_section(described, format::type_run, 0, encode_run(run));
  append_section(described, format::type_windows, 0, encode_windows(run));
  append_section(described, format::type_strata, 0, encode_strata(run));
  if (!run.moves.empty()) append_section(described, format::type_moves, 0, encode_moves(run));
  if (!run.step_loads.empty()) append_section(described, format::type_path, 0, run.step_loads);

  std::vector<Section> sections;
  std::size_t at = 0;
  while (at < described.size()) {
    Entry entry = format::get_entry(described, at);
    if (entry.type == format::type_run) entry.flags |= format::flag_required;
    sections.push_back({entry, View(described).subspan(at + format::entry_bytes, entry.stored)});
    at += format::entry_bytes + entry.stored;
  }
  std::vector<Section> loads;
  for (const Bytes& part : parts) collect(part, run, loads);
  sort_sections(loads);
  sections.insert(sections.end(), loads.begin(), loads.end());

  Bytes out = header();
  std::size_t total = out.size() + format::footer_bytes;
  for (const Section& s : sections) total += s.payload.size() + format::entry_bytes;
  out.reserve(total);
  for (const Section& s : sections) out.insert(out.end(), s.payload.begin(), s.payload.end());
  append_index(out, sections);
  return out;
}

std::string file_name(const Run& run) {
  std::string step = std::to_string(run.steps);
  if (step.size() < 8) step.insert(0, 8 - step.size(), '0');
  return clean(run.name) + "-" + clean(run.job) + "-" + step + ".effort";
}

}  // namespace effort::record
