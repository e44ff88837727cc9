#include "record/part.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "record/columns.hpp"

namespace effort::record {

using format::Bytes;
using format::Cursor;

Bytes encode_tiles(const std::vector<Tile>& tiles) {
  Bytes out;
  format::put_varint(out, tiles.size());
  for (const Tile& tile : tiles) {
    format::put_varint(out, tile.series);
    format::put_varint(out, static_cast<std::uint64_t>(tile.first_step));
    format::put_varint(out, tile.history.size());
  }
  for (const Tile& tile : tiles) out.insert(out.end(), tile.history.begin(), tile.history.end());
  return out;
}

std::vector<Tile> decode_tiles(format::View raw, const Run& run) {
  Cursor in(raw);
  const std::uint64_t count = in.varint(run.series.size(), "the number of tiles");
  std::vector<Tile> tiles(count);
  std::vector<std::uint64_t> sizes(count);
  std::int64_t last = -1;
  for (std::size_t i = 0; i < count; ++i) {
    tiles[i].series = static_cast<std::uint32_t>(in.varint(run.series.size() - 1, "a tile's series"));
    if (tiles[i].series <= last) throw std::runtime_error("a node's tiles are not in the order of the series");
    last = tiles[i].series;
    tiles[i].first_step =
        static_cast<std::int64_t>(in.varint(static_cast<std::uint64_t>(run.steps), "a tile's first step"));
    sizes[i] = in.varint();
  }
  for (std::size_t i = 0; i < count; ++i) {
    const format::View history = in.take(sizes[i]);
    tiles[i].history.assign(history.begin(), history.end());
  }
  in.finish();
  return tiles;
}

namespace {

/// The bytes of many numbers, all lowest bytes first.  Bytes of equal weight are similar, so they compress better.
void put_planes(Bytes& out, const std::vector<double>& values) {
  const std::size_t n = values.size(), start = out.size();
  out.resize(start + 8 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = std::bit_cast<std::uint64_t>(values[i]);
    for (std::size_t b = 0; b < 8; ++b) out[start + b * n + i] = static_cast<std::byte>(bits >> (8 * b));
  }
}

std::vector<double> get_planes(format::View bytes) {
  const std::size_t n = bytes.size() / 8;
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t bits = 0;
    for (std::size_t b = 0; b < 8; ++b) bits |= std::to_integer<std::uint64_t>(bytes[b * n + i]) << (8 * b);
    values[i] = std::bit_cast<double>(bits);
  }
  return values;
}

}  // namespace

Bytes encode_exact(const ExactBlock& block) {
  Bytes out;
  format::put_varint(out, static_cast<std::uint64_t>(block.first_step));
  format::put_varint(out, static_cast<std::uint64_t>(block.steps));
  format::put_varint(out, block.series.size());
  for (std::uint32_t series : block.series) format::put_varint(out, series);
  put_planes(out, block.values);
  return out;
}

ExactBlock decode_exact(format::View raw, const Run& run, std::int32_t node) {
  Cursor in(raw);
  ExactBlock block;
  block.first_step =
      static_cast<std::int64_t>(in.varint(static_cast<std::uint64_t>(run.steps), "a block's first step"));
  const auto left = static_cast<std::uint64_t>(run.steps - block.first_step);
  block.steps =
      static_cast<std::int32_t>(in.varint(std::min<std::uint64_t>(left, INT32_MAX), "a block's number of steps"));
  block.series.resize(in.varint(std::min<std::uint64_t>(run.series.size(), in.left()), "a block's number of series"));
  for (std::uint32_t& series : block.series)
    series = static_cast<std::uint32_t>(in.varint(run.series.size() - 1, "a block's series"));
  const auto rows = static_cast<std::uint64_t>(run.count_of_node(node));
  // The factors are below 2^31, 2^26 and 2^20: the product of two does not overflow, and a division avoids the third.
  const std::uint64_t row_values = rows * static_cast<std::uint64_t>(block.steps);
  const std::uint64_t values = in.left() / 8;
  const bool fits = row_values == 0 || block.series.empty()
                        ? in.left() == 0
                        : in.left() % 8 == 0 && values % row_values == 0 && values / row_values == block.series.size();
  if (!fits) throw std::runtime_error("a block of exact loads does not have series x ranks x steps values");
  block.values = get_planes(in.take(in.left()));
  return block;
}

namespace {

std::vector<Column<Flow>> flow_columns() {
  return {column("window", &Flow::window),           column("source", &Flow::source),
          column("destination", &Flow::destination), column("region", &Flow::region),
          column("messages", &Flow::messages),       column("bytes", &Flow::bytes),
          column("seconds", &Flow::seconds),         column("size_class", &Flow::size_class, Presence::optional)};
}

const std::vector<Column<Traffic>>& traffic_fields() {
  static const auto& fields = *new std::vector<Column<Traffic>>{
      {"regions", true,
       [](cbor::Encoder& out, const Traffic& t) {
         out.array(t.regions.size());
         for (const std::string& name : t.regions) out.text(name);
       },
       [](cbor::Decoder& in, Traffic& t) {
         for (std::uint64_t count = in.array(); count > 0; --count) t.regions.push_back(in.text());
       }},
      {"flows", true, [](cbor::Encoder& out, const Traffic& t) { put_table(out, flow_columns(), t.flows); },
       [](cbor::Decoder& in, Traffic& t) { t.flows = get_table(in, flow_columns()); }}};
  return fields;
}

}  // namespace

Bytes encode_traffic(const Traffic& traffic) {
  Bytes out;
  cbor::Encoder encoder(out);
  put_record(encoder, traffic_fields(), traffic);
  return out;
}

Traffic decode_traffic(format::View raw, const Run& run) {
  cbor::Decoder decoder(raw);
  Traffic traffic;
  get_record(decoder, traffic_fields(), traffic);
  decoder.finish();
  for (const Flow& f : traffic.flows)
    if (f.window < 0 || f.window > max_steps || f.source < 0 || f.source >= run.ranks || f.destination < 0 ||
        f.destination >= run.ranks || f.size_class < -1 || f.size_class > 64 || f.region < 0 ||
        static_cast<std::size_t>(f.region) >= traffic.regions.size())
      throw std::runtime_error(
          "a flow of the communication matrix names a window, rank, region or class of sizes that does not exist");
  return traffic;
}

}  // namespace effort::record
