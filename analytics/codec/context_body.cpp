#include "analytics/codec/context_body.hpp"

#include "analytics/codec/plane_coder.hpp"
#include "analytics/codec/prelude.hpp"

#include <algorithm>

namespace effort::codec {
namespace {

/// Codes everything after the header; returns the number of planes.  `needed`: the bytes up to the end of each.
template <typename Q>
int code_planes(RangeEncoder& io, const ContextBody& body, std::vector<BandData<Q>>& data,
                std::vector<std::size_t>& needed) {
  int planes = 1;
  for (std::size_t b = 1; b < data.size(); ++b) planes = std::max(planes, data[b].planes());
  io.reserve(1024 + 64 * body.layout.splits.size());
  for (const PacketSplit& split : body.layout.splits) code_split(io, split);
  auto first = static_cast<std::uint64_t>(data[0].magnitude[data[0].at(0, 0)]);
  bool negative = data[0].negative[data[0].at(0, 0)] != 0;
  code_first(io, first, negative);
  PlaneCoder<RangeEncoder, Q> coder(io, body.layout, data, body.plain);
  for (int p = planes; p-- > 0;) {
    coder.code_plane(p);
    needed.push_back(io.needed());
  }
  return planes;
}

/// The end of each plane but the last, and the estimated error there, scaled by the measured error of the last plane.
void put_cuts(Bytes& out, const ContextBody& body, const std::vector<std::size_t>& needed, std::size_t size) {
  const double last = body.error_without(0);
  const double correction = last > 0 ? body.trial.errors.rms / last : 1;
  std::size_t before = 0;
  for (std::size_t k = 0; k + 1 < needed.size(); ++k) {
    const std::size_t end = std::min(needed[k], size);
    put_varint(out, end - before);
    before = end;
    const int missing = static_cast<int>(needed.size() - 1 - k);
    put_u16(out, error_code(body.error_without(missing) * correction / body.nrmse_unit));
  }
}

}  // namespace

template <typename Q>
Bytes write_body(const ContextBody& body, std::vector<BandData<Q>>& data) {
  RangeEncoder io;
  std::vector<std::size_t> needed;
  const int planes = code_planes(io, body, data, needed);
  const Bytes payload = io.finish();
  const bool has_cuts = payload.size() >= cuts_from && planes > 1 && !body.plain;
  const Trial& trial = body.trial;
  Bytes out;
  put_signed(out, trial.step.exponent + body.exponent);
  put_byte(out, trial.step.mantissa);
  put_byte(out, static_cast<unsigned>(planes) | (has_cuts ? cuts_flag : 0));
  put_byte(out, trial.points.code);
  put_u16(out, error_code(trial.errors.rms / body.nrmse_unit));
  put_u16(out, error_code(trial.errors.max / trial.step.value()));
  if (has_cuts) put_cuts(out, body, needed, payload.size());
  out.insert(out.end(), payload.begin(), payload.end());
  return out;
}

template Bytes write_body(const ContextBody&, std::vector<BandData<std::uint32_t>>&);
template Bytes write_body(const ContextBody&, std::vector<BandData<std::uint64_t>>&);

}  // namespace effort::codec
