// effort encode --rows R --cols C [--passes N | --nrmse X | --max-error E | --max-bytes B] in.f64 out.ewz
#include <cmath>
#include <cstdio>
#include <memory>
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

struct Arguments {
  std::size_t rows = 0, cols = 0;
  std::optional<int> passes;
  std::optional<double> nrmse, max_error;
  std::optional<std::size_t> max_bytes;
  std::string coder = "context", in, out;
  bool json = false;
};

codec::Target target_of(const Arguments& a) {
  try {
    if (a.nrmse) return codec::Target::nrmse(*a.nrmse);
    if (a.max_error) return codec::Target::max_error(*a.max_error);
    if (a.max_bytes) return codec::Target::max_bytes(*a.max_bytes);
    return codec::Target::passes(a.passes.value_or(default_passes));
  } catch (const std::invalid_argument& e) {
    throw UsageError(e.what());
  }
}

void run_encode(const Arguments& a) {
  const Destination out(a.out, {a.in});
  const codec::Target target = target_of(a);
  const std::vector<double> values = read_raw(a.in, a.rows, a.cols);
  const KokkosSession kokkos;
  const Stopwatch watch;
  const auto coder = a.coder == "ezw" ? codec::Coder::ezw : codec::Coder::context;
  const std::vector<std::byte> stream =
      on_data_of(a.in, [&] { return codec::encode(values, a.rows, a.cols, target, coder); });
  const double seconds = watch.seconds();
  OutputFile file(out);
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

}  // namespace

void add_encode(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("encode", "Compresses a raw matrix (little-endian float64, C order), lossily");
  command->add_option("--rows", a->rows, "number of rows (ranks)")->required()->check(CLI::PositiveNumber);
  command->add_option("--cols", a->cols, "number of columns (steps)")->required()->check(CLI::PositiveNumber);
  CLI::Option_group* target = command->add_option_group("target", "when the encoding stops (default: 5 passes)");
  target->add_option("--passes", a->passes, "bit-plane passes");
  target->add_option("--nrmse", a->nrmse, "at most this root mean square error over the range of the values");
  target->add_option("--max-error", a->max_error, "at most this absolute error");
  target->add_option("--max-bytes", a->max_bytes, "at most this size of the result");
  target->require_option(0, 1);
  command->add_option("--coder", a->coder, "context, or ezw: zerotrees, run lengths and Huffman codes")
      ->check(CLI::IsMember({"context", "ezw"}));
  command->add_option("in", a->in, "raw matrix")->required();
  command->add_option("out", a->out, "compressed file to write")->required();
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_encode(*a); });
}

}  // namespace effort::tools
