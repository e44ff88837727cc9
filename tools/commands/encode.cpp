// effort encode --rows R --cols C [--passes N | --nrmse X | --max-error E | --max-bytes B] in.f64 out.ewz
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>

#include "analytics/codec/codec.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/kokkos_session.hpp"
#include "tools/files/output_file.hpp"
#include "tools/files/raw_file.hpp"
#include "tools/output/output.hpp"

namespace effort::tools {

namespace {

constexpr int default_passes = 5;

codec::Target target_of(const EncodeArguments& a) {
  try {
    if (a.nrmse) return codec::Target::nrmse(*a.nrmse);
    if (a.max_error) return codec::Target::max_error(*a.max_error);
    if (a.max_bytes) return codec::Target::max_bytes(*a.max_bytes);
    return codec::Target::passes(a.passes.value_or(default_passes));
  } catch (const std::invalid_argument& e) {
    throw UsageError(e.what());
  }
}

}  // namespace

void run_encode(const EncodeArguments& a) {
  const codec::Target target = target_of(a);
  const std::vector<double> values = read_raw(a.in, a.rows, a.cols);
  const KokkosSession kokkos;
  const Stopwatch watch;
  const auto coder = a.coder == "ezw" ? codec::Coder::ezw : codec::Coder::context;
  const std::vector<std::byte> stream =
      on_data_of(a.in, [&] { return codec::encode(values, a.rows, a.cols, target, coder); });
  const double seconds = watch.seconds();
  OutputFile file(a.out);
  file.write(stream);
  file.commit();
  const codec::StreamInfo info = codec::inspect(stream);
  const double raw = 8.0 * static_cast<double>(values.size()), ratio = raw / static_cast<double>(stream.size());
  if (a.json) {
    print_json({{"bytes", stream.size()},
                {"ratio", ratio},
                {"nrmse", info.nrmse},
                {"max_error", info.max_error},
                {"passes", info.passes},
                {"seconds", seconds}});
  } else {
    std::printf("%zu x %zu values, %s in %s: %.4g : 1\nnrmse %.3g, largest error %.3g, %d passes, %s\n", a.rows, a.cols,
                bytes_text(raw).c_str(), bytes_text(static_cast<double>(stream.size())).c_str(), ratio, info.nrmse,
                info.max_error, info.passes, seconds_text(seconds).c_str());
  }
}

}  // namespace effort::tools
