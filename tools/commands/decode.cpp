// effort decode [--passes N] [--level L] in.ewz out.f64
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "analytics/codec/codec.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/kokkos_session.hpp"
#include "tools/files/output_file.hpp"
#include "tools/files/stream_file.hpp"
#include "tools/output/output.hpp"

namespace effort::tools {

namespace {

/// Half of the machine's memory, so that a small damaged file cannot request all of it.
std::size_t most_values() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return std::size_t{1} << 28;
  return std::max<std::size_t>(static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) / 16,
                               std::size_t{1} << 20);
}

codec::Decoded decode_file(const DecodeArguments& a) {
  const StreamFile stream(a.in);
  try {
    const codec::StreamInfo info = codec::inspect(stream);
    const double cell = std::exp2(a.level), values = std::ceil(static_cast<double>(info.rows) / cell) *
                                                     std::ceil(static_cast<double>(info.cols) / cell);
    if (values > static_cast<double>(most_values())) {
      throw std::runtime_error("the file expands to " + std::to_string(info.rows) + " x " + std::to_string(info.cols) +
                               " values, too many for this machine's memory (file '" + a.in +
                               "'): give a higher --level");
    }
    codec::DecodeOptions options;
    options.passes = a.passes;
    options.level = a.level;
    options.max_values = most_values();
    return codec::decode(stream, options);
  } catch (const codec::CodecError& e) {
    throw std::runtime_error(std::string(e.what()) + " (file '" + a.in + "'): copy the file from its origin again");
  }
}

}  // namespace

void run_decode(const DecodeArguments& a) {
  const KokkosSession kokkos;
  const Stopwatch watch;
  const codec::Decoded decoded = decode_file(a);
  const double seconds = watch.seconds();
  OutputFile file(a.out);
  file.write(decoded.values);
  file.commit();
  if (a.json) {
    print_json({{"rows", decoded.rows}, {"cols", decoded.cols}, {"seconds", seconds}});
  } else {
    std::printf("%zu x %zu values, %s\n", decoded.rows, decoded.cols, seconds_text(seconds).c_str());
  }
}

}  // namespace effort::tools
