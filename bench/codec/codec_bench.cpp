// Compares size and speed of the codec with zfp and OpenJPEG in this process, and with published figures of SPERR and
// SZ3.
//
//   bench_codec [--quick] [--seed N] [DIRECTORY]
//
// DIRECTORY: raw matrices named KIND_ROWSxCOLS.f64 that replace the generated ones.  The published figures are of
// matrices with other random numbers.  If few of these numbers matter (the eight loads of `static` set the range that
// errors are relative to), a ratio is off by a few per cent.  For an exact comparison pass the matrices of the
// published figures.
#include "analytics/codec/codec.hpp"
#include "analytics/wavelet/cdf97.hpp"
#include "generator.hpp"
#include "rivals.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

namespace {

using namespace effort;
using namespace effort::bench;

constexpr std::array<double, 4> error_bounds{0.04, 0.01, 0.001, 1e-6};

struct Shape {
  std::size_t rows, cols;
};

std::vector<double> load_or_make(const std::string& directory, const std::string& kind, Shape shape,
                                 std::uint64_t seed) {
  if (!directory.empty()) {
    std::ifstream in(
        directory + "/" + kind + "_" + std::to_string(shape.rows) + "x" + std::to_string(shape.cols) + ".f64",
        std::ios::binary);
    std::vector<double> values(shape.rows * shape.cols);
    if (in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * 8))) return values;
  }
  return make_matrix(kind, shape.rows, shape.cols, seed);
}

Result run_own(const std::vector<double>& values, Shape shape, double bound, codec::Coder coder) {
  Result result;
  const double start = thread_seconds();
  const auto bytes = codec::encode(values, shape.rows, shape.cols, codec::Target::nrmse(bound), coder);
  const double middle = thread_seconds();
  const auto back = codec::decode(bytes);
  result.decode_seconds = thread_seconds() - middle;
  result.encode_seconds = middle - start;
  result.bytes = bytes.size();
  result.nrmse = nrmse_of(values, back.values);
  return result;
}

/// Geometric means of ratios, per bound.
struct Means {
  std::array<double, 4> log_sum{};
  std::array<int, 4> count{};
  void add(std::size_t bound, double ratio) {
    log_sum[bound] += std::log(ratio);
    ++count[bound];
  }
  void print(const char* name) const {
    std::printf("%-26s", name);
    for (std::size_t k = 0; k < 4; ++k)
      if (count[k]) {
        std::printf(" %10.3f", std::exp(log_sum[k] / count[k]));
      } else {
        std::printf("          -");
      }
    std::printf("\n");
  }
};

void transform_speed(Shape shape) {
  const std::size_t n = shape.rows * shape.cols;
  std::vector<double> in(n, 1.5), out(n);
  const wavelet::Levels levels{wavelet::deepest_level(shape.rows), wavelet::deepest_level(shape.cols)};
  std::vector<double> ratios, speeds;
  for (int k = 0; k < 15; ++k) {
    double start = thread_seconds();
    std::memcpy(out.data(), in.data(), n * sizeof(double));
    const double copy = thread_seconds() - start;
    start = thread_seconds();
    wavelet::forward(Kokkos::Serial(), wavelet::ConstMatrixView(in.data(), shape.rows, shape.cols),
                     wavelet::MatrixView(out.data(), shape.rows, shape.cols), levels);
    const double forward = thread_seconds() - start;
    ratios.push_back(copy / forward);
    speeds.push_back(static_cast<double>(n) * 8e-9 / forward);
  }
  std::nth_element(ratios.begin(), ratios.begin() + 7, ratios.end());
  std::nth_element(speeds.begin(), speeds.begin() + 7, speeds.end());
  std::printf("forward transform %zu x %zu: %.2f GB/s, %.3f of the copy bandwidth\n", shape.rows, shape.cols, speeds[7],
              ratios[7]);
}

void window_speed() {
  const auto values = make_matrix("rough", 64, 320, 5);
  std::vector<double> seconds;
  for (int k = 0; k < 9; ++k) {
    const double start = thread_seconds();
    for (std::size_t region = 0; region < 32; ++region)
      codec::encode(std::span(values).subspan(region * 640, 640), 64, 10, codec::Target::nrmse(0.01));
    seconds.push_back(thread_seconds() - start);
  }
  std::nth_element(seconds.begin(), seconds.begin() + 4, seconds.end());
  std::printf("a window of 10 steps x 64 ranks x 32 regions at 1 %%: %.2f ms\n", seconds[4] * 1e3);
}

struct Table {
  Means sperr, sz3, zfp, openjpeg, encode_speed, decode_speed, ezw;

  void row(const std::string& kind, Shape shape, const std::vector<double>& values, bool counted) {
    for (std::size_t k = 0; k < error_bounds.size(); ++k) {
      const Result own = run_own(values, shape, error_bounds[k], codec::Coder::context);
      const double raw = static_cast<double>(values.size()) * 8, ratio = raw / static_cast<double>(own.bytes);
      std::printf("%-8s %5zux%-5zu %7g %9zu B %10.1f :1 error %.4f of the bound %6.1f ms %6.1f ms", kind.c_str(),
                  shape.rows, shape.cols, error_bounds[k], own.bytes, ratio, own.nrmse / error_bounds[k],
                  own.encode_seconds * 1e3, own.decode_seconds * 1e3);
      const auto against = [&](const char* name, std::optional<double> other, Means& means) {
        if (!other || *other <= 0) return;
        std::printf("  %s %.2f", name, ratio / *other);
        if (counted) means.add(k, ratio / *other);
      };
      const auto figures = published("SPERR", kind, shape.rows), others = published("SZ3", kind, shape.rows);
      against("SPERR", figures ? std::optional((*figures)[k]) : std::nullopt, sperr);
      against("SZ3", others ? std::optional((*others)[k]) : std::nullopt, sz3);
      if (const auto rival = run_zfp(values, shape.rows, shape.cols, error_bounds[k])) {
        against("zfp", raw / static_cast<double>(rival->bytes), zfp);
        std::printf(" (speed %.2f %.2f)", rival->encode_seconds / own.encode_seconds,
                    rival->decode_seconds / own.decode_seconds);
        if (counted) {
          encode_speed.add(k, rival->encode_seconds / own.encode_seconds);
          decode_speed.add(k, rival->decode_seconds / own.decode_seconds);
        }
      }
      if (const auto rival = run_openjpeg(values, shape.rows, shape.cols, error_bounds[k]))
        against("J2K", raw / static_cast<double>(rival->bytes), openjpeg);
      if (k < 3)
        against("EZW", raw / static_cast<double>(run_own(values, shape, error_bounds[k], codec::Coder::ezw).bytes),
                ezw);
      std::printf("\n");
      std::fflush(stdout);
    }
  }

  void print() const {
    std::printf("\ngeometric means            %10s %10s %10s %10s\n", "4 %", "1 %", "0.1 %", "1e-6");
    sperr.print("ratio against SPERR");
    sz3.print("ratio against SZ3");
    zfp.print("ratio against zfp");
    openjpeg.print("ratio against OpenJPEG");
    ezw.print("ratio against our EZW");
    encode_speed.print("encode speed against zfp");
    decode_speed.print("decode speed against zfp");
  }
};

}  // namespace

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos;
  bool quick = false;
  std::uint64_t seed = 99;
  std::string directory;
  for (int a = 1; a < argc; ++a) {
    if (std::strcmp(argv[a], "--quick") == 0) {
      quick = true;
    } else if (std::strcmp(argv[a], "--seed") == 0 && a + 1 < argc) {
      seed = std::strtoull(argv[++a], nullptr, 10);
    } else {
      directory = argv[a];
    }
  }
  for (const Shape shape : {Shape{1024, 1024}, Shape{16384, 200}}) transform_speed(shape);
  window_speed();
  Table table;
  std::vector<Shape> shapes{{1024, 1024}, {16384, 200}};
  if (quick) shapes = {{1000, 1031}};
  for (const Shape shape : shapes)
    for (const auto& kind : matrix_kinds())
      table.row(kind, shape, load_or_make(directory, kind, shape, seed), kind != "spiky" && kind != "noise");
  table.print();
}
