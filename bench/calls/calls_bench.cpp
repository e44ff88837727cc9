// bench_calls FILE...
//
// Bytes and time of the coder of function calls and of ParLOT's, on raw streams of 16-bit ids, one per rank: each by
// itself, then all together.  Everything is decoded and compared.  zstd and xz are measured beside it by the script
// bench/calls/compare.sh.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "analytics/calls/block.hpp"
#include "parlot.hpp"

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::vector<std::uint32_t> read(const char* path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(std::string("cannot read ") + path);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::uint32_t> out(bytes.size() / 2);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<unsigned char>(bytes[2 * i]) |
             static_cast<unsigned>(static_cast<unsigned char>(bytes[2 * i + 1])) << 8;
  return out;
}

struct Result {
  std::size_t events = 0, bytes = 0;
  double encode_s = 0, decode_s = 0;
};

Result measure(const std::vector<std::vector<std::uint32_t>>& streams) {
  Result r;
  effort::calls::BlockEncoder encoder;
  std::vector<std::vector<std::byte>> blocks;
  double t = now();
  for (std::size_t i = 0; i < streams.size(); ++i) {
    for (std::span<const std::uint32_t> rest = streams[i]; !rest.empty();) {
      encoder.begin_run(i);
      rest = rest.subspan(encoder.append(rest));
      if (!rest.empty()) blocks.push_back(encoder.finish());
    }
  }
  blocks.push_back(encoder.finish());
  r.encode_s = now() - t;
  std::vector<std::size_t> at(streams.size());
  t = now();
  for (const std::vector<std::byte>& block : blocks) {
    r.bytes += block.size();
    effort::calls::decode_block(block, ~0ull, [&](std::uint64_t s, std::span<const std::uint32_t> events) {
      r.events += events.size();
      if (events[0] != streams[s].at(at[s])) throw std::runtime_error("decoded calls differ");
      at[s] += events.size();
    });
  }
  r.decode_s = now() - t;
  std::fill(at.begin(), at.end(), 0);
  for (const std::vector<std::byte>& block : blocks)
    effort::calls::decode_block(block, ~0ull, [&](std::uint64_t s, std::span<const std::uint32_t> events) {
      if (at[s] + events.size() > streams[s].size() ||
          !std::equal(events.begin(), events.end(), streams[s].begin() + static_cast<std::ptrdiff_t>(at[s])))
        throw std::runtime_error("decoded calls differ");
      at[s] += events.size();
    });
  for (std::size_t i = 0; i < streams.size(); ++i)
    if (at[i] != streams[i].size()) throw std::runtime_error("decoded calls are missing");
  return r;
}

Result measure_parlot(const std::vector<std::uint32_t>& stream) {
  Result r;
  const std::vector<parlot::Word> words(stream.begin(), stream.end());
  double t = now();
  const std::vector<std::uint8_t> bytes = parlot::encode(words);
  r.encode_s = now() - t;
  t = now();
  const std::vector<parlot::Word> found = parlot::decode(bytes, words.size());
  r.decode_s = now() - t;
  if (found != words) throw std::runtime_error("ParLOT's coder: decoded calls differ");
  r.events = words.size();
  r.bytes = bytes.size();
  return r;
}

void print(const char* what, const Result& r) {
  const double events = static_cast<double>(r.events);
  std::printf("%-28s %11zu events %9zu bytes  encode %6.2f ns  decode %6.2f ns/event\n", what, r.events, r.bytes,
              r.encode_s / events * 1e9, r.decode_s / events * 1e9);
}

void add(Result& sum, const Result& r) {
  sum.events += r.events;
  sum.bytes += r.bytes;
  sum.encode_s += r.encode_s;
  sum.decode_s += r.decode_s;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::vector<std::vector<std::uint32_t>> streams;
    Result each, parlot;
    for (int i = 1; i < argc; ++i) {
      streams.push_back(read(argv[i]));
      const Result r = measure({streams.back()});
      print(argv[i], r);
      add(each, r);
      add(parlot, measure_parlot(streams.back()));
    }
    print("each by itself", each);
    print("all together", measure(streams));
    print("ParLOT, each by itself", parlot);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_calls: %s\n", e.what());
    return 1;
  }
}
