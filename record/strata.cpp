// The section STRA.  Labels take as few bytes as the number of strata allows.
#include <stdexcept>

#include "record/columns.hpp"
#include "record/metadata.hpp"

namespace effort::record {

namespace {

int label_width(std::size_t strata) { return strata <= 0x100 ? 1 : strata <= 0x10000 ? 2 : 4; }

Column<Strata> labels() {
  return {"label", true,
          [](cbor::Encoder& out, const Strata& s) {
            const int width = label_width(s.medoid_rank.size());
            format::Bytes packed;
            packed.reserve(s.label.size() * static_cast<std::size_t>(width));
            for (std::int32_t label : s.label) {
              for (int i = 0; i < width; ++i) packed.push_back(static_cast<std::byte>(label >> (8 * i)));
            }
            out.bytes(packed);
          },
          [](cbor::Decoder& in, Strata& s) {
            const format::View packed = in.bytes();
            const auto width = static_cast<std::size_t>(label_width(s.medoid_rank.size()));
            if (packed.size() % width != 0) throw std::runtime_error("the strata labels are truncated");
            for (std::size_t at = 0; at < packed.size(); at += width) {
              std::uint32_t label = 0;
              for (std::size_t i = 0; i < width; ++i)
                label |= std::to_integer<std::uint32_t>(packed[at + i]) << (8 * i);
              s.label.push_back(static_cast<std::int32_t>(label));
            }
          }};
}

template <typename T>
Column<Strata> list(const char* name, std::vector<T> Strata::*member) {
  return {name, true,
          [member](cbor::Encoder& out, const Strata& s) {
            out.array((s.*member).size());
            for (const T& value : s.*member) detail::put_value(out, value);
          },
          [member](cbor::Decoder& in, Strata& s) {
            std::vector<T> values(in.array());
            for (T& value : values) detail::get_value(in, value);
            s.*member = std::move(values);
          }};
}

/// The medoids come before the labels, because their number gives the labels' width.
const std::vector<Column<Strata>>& strata_fields() {
  static const auto& fields = *new std::vector<Column<Strata>>{
      column("first", &Strata::first),           column("last", &Strata::last),
      list("medoid_rank", &Strata::medoid_rank), labels(),
      list("region", &Strata::region),           list("region_load", &Strata::region_load)};
  return fields;
}

}  // namespace

format::Bytes encode_strata(const Run& run) {
  format::Bytes out;
  cbor::Encoder encoder(out);
  encoder.array(run.strata.size());
  for (const Strata& s : run.strata) put_record(encoder, strata_fields(), s);
  return out;
}

void decode_strata(format::View raw, Run& run) {
  cbor::Decoder decoder(raw);
  for (std::uint64_t count = decoder.array(); count > 0; --count)
    get_record(decoder, strata_fields(), run.strata.emplace_back());
  decoder.finish();
}

}  // namespace effort::record
