#include "record/frame.hpp"

#include <stdexcept>

namespace effort::record::format {

Bytes chunk_file_header(const std::array<unsigned char, 8>& magic, std::uint16_t major, std::uint16_t minor,
                        std::uint32_t features) {
  Bytes out;
  for (const unsigned char c : magic) out.push_back(static_cast<std::byte>(c));
  put(out, major);
  put(out, minor);
  put(out, features);
  put(out, hash(out));
  return out;
}

Bytes framed(std::uint32_t type, View payload) {
  if (payload.size() > most_payload)
    throw std::invalid_argument("a chunk of a file is too long (" + std::to_string(payload.size()) +
                                " bytes): split it");
  Bytes out;
  out.reserve(frame_bytes + payload.size());
  put(out, type);
  put(out, static_cast<std::uint32_t>(payload.size()));
  put(out, hash(payload));
  put(out, static_cast<std::uint32_t>(hash(out)));
  out.insert(out.end(), payload.begin(), payload.end());
  return out;
}

std::optional<Frame> get_frame(View bytes) {
  if (bytes.size() < frame_bytes) return std::nullopt;
  const auto own = static_cast<std::uint32_t>(hash(bytes.first(frame_bytes - 4)));
  if (get<std::uint32_t>(bytes, frame_bytes - 4) != own) return std::nullopt;
  return Frame{get<std::uint32_t>(bytes, 0), get<std::uint32_t>(bytes, 4), get<std::uint64_t>(bytes, 8)};
}

}  // namespace effort::record::format
