// bench_trace [--window STEPS] [FILE.flat ...]
//
// Bytes and time of the trace coder for a generated halo exchange of 27 ranks, and for flat files of events:
//   8 bytes "EFFLAT01", the number of events (64 bits), then for each event, rank by rank in the order of time:
//   rank, thread (32 bits each), time in ns, bytes, received bytes (64 each), id, peer, tag, request, kind, 0 (32
//   each); all little-endian, steps numbered from 0.
// Every chunk is decoded and compared.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "analytics/trace/coder.hpp"

namespace {

using effort::trace::Decoder;
using effort::trace::Encoder;
using effort::trace::Event;
using effort::trace::Kind;
using effort::trace::Place;
using effort::trace::TimeBound;

/// The events of a future chunk.
struct Chunk {
  Place place;
  std::int64_t window = 0;
  std::vector<Event> events;
};

struct Flat {
  std::int32_t rank, thread;
  std::int64_t time_ns;
  std::uint64_t bytes, received_bytes;
  std::uint32_t id;
  std::int32_t peer, tag;
  std::uint32_t request, kind, unused;
};
static_assert(sizeof(Flat) == 56);

std::vector<Flat> read(const char* path) {
  std::ifstream in(path, std::ios::binary);
  char magic[8] = {};
  std::uint64_t n = 0;
  in.read(magic, 8).read(reinterpret_cast<char*>(&n), 8);
  if (!in || std::memcmp(magic, "EFFLAT01", 8) != 0) throw std::runtime_error(std::string("not a flat file: ") + path);
  std::vector<Flat> flat(n);
  if (!in.read(reinterpret_cast<char*>(flat.data()), static_cast<std::streamsize>(n * sizeof(Flat))))
    throw std::runtime_error(std::string("cut: ") + path);
  return flat;
}

/// Times with a long tail around a mean.
class Noise {
 public:
  std::int64_t around(double mean_ns, double spread) {
    const double u = uniform(), v = uniform();
    return static_cast<std::int64_t>(mean_ns *
                                     std::exp(spread * std::sqrt(-2 * std::log(u)) * std::cos(6.283185307 * v)));
  }

 private:
  double uniform() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>((state_ >> 11) + 1) / 9007199254740993.0;
  }
  std::uint64_t state_ = 1;
};

/// Each rank of a grid exchanges with its neighbours, computes, and reduces.
std::vector<Flat> generate() {
  constexpr int side = 3, steps = 500;
  Noise noise;
  std::vector<Flat> flat;
  for (int rank = 0; rank < side * side * side; ++rank) {
    std::int64_t now = 1000;
    const auto add = [&](Kind kind, std::uint32_t id, int peer = -1, std::uint32_t request = 0,
                         std::uint64_t bytes = 0) {
      flat.push_back({rank, 0, now, bytes, 0, id, peer, 0, request, static_cast<std::uint32_t>(kind), 0});
    };
    for (int step = 0; step < steps; ++step) {
      add(Kind::step, 0, -1, 0, static_cast<std::uint64_t>(step));
      const int strides[] = {1, side, side * side};
      std::uint32_t request = 0;
      for (const Kind kind : {Kind::receive_start, Kind::send_start}) {
        for (int i = 0; i < 6; ++i) {
          const int coordinate = rank / strides[i / 2] % side, next = coordinate + (i % 2 == 0 ? 1 : -1);
          if (next < 0 || next >= side) continue;
          now += noise.around(150, 0.2);
          const std::uint32_t id = kind == Kind::send_start ? 1 : 2;
          add(Kind::enter, id);
          add(kind, 0, rank + (next - coordinate) * strides[i / 2], ++request, kind == Kind::send_start ? 8192 : 0);
          now += noise.around(400, 0.3);
          add(Kind::leave, id);
        }
      }
      now += noise.around(200, 0.2);
      add(Kind::enter, 3);
      now += noise.around(30'000, 0.8);
      for (std::uint32_t i = 1; i <= request; ++i) add(Kind::send_done, 0, -1, i);
      add(Kind::leave, 3);
      now += noise.around(2'000'000, 0.02);
      add(Kind::enter, 4);
      add(Kind::collective, 0, -1, 0, 8);
      now += noise.around(60'000, 1);
      add(Kind::leave, 4);
    }
  }
  return flat;
}

/// Windows of `steps` steps, all ranks of a window before the next, as they reach the coder.
std::vector<Chunk> cut(const std::vector<Flat>& flat, std::int64_t steps) {
  std::vector<Chunk> chunks;
  std::int64_t step = 0, ordinal = 0;
  for (const Flat& f : flat) {
    const bool new_rank =
        chunks.empty() || chunks.back().place.rank != f.rank || chunks.back().place.thread != f.thread;
    if (new_rank) step = ordinal = 0;
    const bool begins =
        f.kind == static_cast<std::uint32_t>(Kind::step) && static_cast<std::int64_t>(f.bytes) >= step + steps;
    if (begins) step = static_cast<std::int64_t>(f.bytes) / steps * steps;
    if (new_rank || begins || chunks.back().events.size() == effort::trace::most_events) {
      chunks.push_back({{f.rank, f.thread, step, f.time_ns}, step / steps, {}});
    }
    Event e;
    e.time_ns = f.time_ns;
    e.bytes = f.bytes;
    e.received_bytes = f.received_bytes;
    e.id = f.id;
    e.peer = f.peer;
    e.tag = f.tag;
    e.request = f.request;
    e.kind = static_cast<Kind>(f.kind);
    chunks.back().events.push_back(e);
  }
  std::stable_sort(chunks.begin(), chunks.end(), [](const Chunk& a, const Chunk& b) { return a.window < b.window; });
  return chunks;
}

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Whether all events came back, with times within the bound of the gap to the last earlier event.
bool same(const Chunk& chunk, const std::vector<Event>& decoded, TimeBound bound) {
  if (decoded.size() != chunk.events.size()) return false;
  std::int64_t last = chunk.place.start_ns, gap = 0;
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    Event e = chunk.events[i];
    if (e.time_ns > last) gap = e.time_ns - std::exchange(last, e.time_ns);
    if (std::abs(decoded[i].time_ns - last) > bound.allowed(gap)) return false;
    e.time_ns = decoded[i].time_ns;
    if (e != decoded[i]) return false;
  }
  return true;
}

struct Cost {
  double bytes = 0, structure = 0, steady = 0, encode_ns = 0, decode_ns = 0;
  std::size_t pieces = 0;
};

Cost measure(const std::vector<Chunk>& chunks, TimeBound bound) {
  Cost cost;
  Encoder encoder(bound);
  std::vector<Encoder::Coded> coded;
  const double begin = cpu_seconds();
  for (const Chunk& c : chunks) coded.push_back(encoder.encode(c.place, c.events));
  const double middle = cpu_seconds();
  Decoder decoder;
  double decoding = 0;
  std::size_t events = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const double start = cpu_seconds();
    if (!coded[i].dictionary.empty()) decoder.add(coded[i].dictionary);
    const std::vector<Event> decoded = decoder.decode(chunks[i].place, coded[i].events);
    decoding += cpu_seconds() - start;
    if (!same(chunks[i], decoded, bound)) throw std::runtime_error("a chunk came back wrong");
    // A chunk names its sequence by a number of seven bits a byte.
    std::size_t number = 1;
    while ((std::to_integer<unsigned>(coded[i].events[number - 1]) & 128) != 0) ++number;
    const double structure = static_cast<double>(coded[i].dictionary.size() + number);
    cost.structure += structure;
    if (i >= chunks.size() / 2) cost.steady += structure;
    cost.bytes += static_cast<double>(coded[i].dictionary.size() + coded[i].events.size());
    cost.pieces += coded[i].dictionary.empty() ? 0 : 1;
    events += chunks[i].events.size();
  }
  cost.steady /= static_cast<double>(chunks.size() - chunks.size() / 2);
  cost.encode_ns = (middle - begin) * 1e9 / static_cast<double>(events);
  cost.decode_ns = decoding * 1e9 / static_cast<double>(events);
  return cost;
}

void report(const char* name, const std::vector<Flat>& flat, std::int64_t window) {
  double calls = 0;
  for (const Flat& f : flat) calls += f.kind == static_cast<std::uint32_t>(Kind::enter) ? 1 : 0;
  const std::vector<Chunk> chunks = cut(flat, window);
  const Cost exact = measure(chunks, TimeBound::exact());
  const Cost bounded = measure(chunks, TimeBound::usual());
  std::printf("%-24s %9.0f %9zu %6zu %6.3f %6.3f %8.4f %8.2f %7zu %6.1f %6.1f %6.1f\n", name, calls, flat.size(),
              chunks.size(), exact.bytes / calls, bounded.bytes / calls, bounded.structure / calls, bounded.steady,
              bounded.pieces, exact.encode_ns, bounded.encode_ns, bounded.decode_ns);
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t window = 10;
  int first = 1;
  if (argc > 2 && std::strcmp(argv[1], "--window") == 0) {
    window = std::max(1, std::atoi(argv[2]));
    first = 3;
  }
  try {
    std::printf(
        "                                                  bytes per call            structure per           "
        "ns per event\n");
    std::printf("%-24s %9s %9s %6s %6s %6s %8s %8s %7s %6s %6s %6s\n", "program", "calls", "events", "chunks", "exact",
                "1%", "struct.", "chunk 2.", "pieces", "exact", "1%", "decode");
    report("generated", generate(), window);
    for (int i = first; i < argc; ++i) {
      const char* slash = std::strrchr(argv[i], '/');
      report(slash == nullptr ? argv[i] : slash + 1, read(argv[i]), window);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_trace: %s\n", e.what());
    return 1;
  }
  return 0;
}
