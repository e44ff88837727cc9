#include "rivals.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <tuple>

#ifdef EFFORT_BENCH_ZFP
#include <zfp.h>
#endif
#ifdef EFFORT_BENCH_OPENJPEG
#include <openjpeg.h>
#endif

namespace effort::bench {

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double nrmse_of(const std::vector<double>& values, const std::vector<double>& back) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += (values[i] - back[i]) * (values[i] - back[i]);
  return std::sqrt(sum / static_cast<double>(values.size())) / (*high - *low);
}

#ifdef EFFORT_BENCH_ZFP
namespace {
Result zfp_at(const std::vector<double>& values, std::size_t rows, std::size_t cols, double tolerance) {
  std::vector<double> in = values, back(values.size());
  zfp_field* field = zfp_field_2d(in.data(), zfp_type_double, cols, rows);
  zfp_stream* zfp = zfp_stream_open(nullptr);
  zfp_stream_set_accuracy(zfp, tolerance);
  std::vector<unsigned char> buffer(zfp_stream_maximum_size(zfp, field));
  bitstream* bits = stream_open(buffer.data(), buffer.size());
  zfp_stream_set_bit_stream(zfp, bits);
  zfp_stream_rewind(zfp);
  Result result;
  const double start = thread_seconds();
  result.bytes = zfp_compress(zfp, field);
  result.encode_seconds = thread_seconds() - start;
  zfp_stream_rewind(zfp);
  zfp_field_set_pointer(field, back.data());
  const double again = thread_seconds();
  zfp_decompress(zfp, field);
  result.decode_seconds = thread_seconds() - again;
  zfp_field_free(field);
  zfp_stream_close(zfp);
  stream_close(bits);
  result.nrmse = nrmse_of(values, back);
  return result;
}
}  // namespace
#endif

std::optional<Result> run_zfp([[maybe_unused]] const std::vector<double>& values, [[maybe_unused]] std::size_t rows,
                              [[maybe_unused]] std::size_t cols, [[maybe_unused]] double bound) {
#ifdef EFFORT_BENCH_ZFP
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  for (double tolerance = (*high - *low) * bound * 64; tolerance > 0; tolerance /= 2) {
    const Result result = zfp_at(values, rows, cols, tolerance);
    if (result.nrmse <= bound) return result;
  }
#endif
  return std::nullopt;
}

#ifdef EFFORT_BENCH_OPENJPEG
namespace {

struct Memory {
  std::vector<unsigned char> bytes;
  std::size_t at = 0;
};
OPJ_SIZE_T write_memory(void* data, OPJ_SIZE_T n, void* user) {
  auto& memory = *static_cast<Memory*>(user);
  if (memory.bytes.size() < memory.at + n) memory.bytes.resize(memory.at + n);
  std::copy_n(static_cast<unsigned char*>(data), n, memory.bytes.begin() + static_cast<std::ptrdiff_t>(memory.at));
  memory.at += n;
  return n;
}
OPJ_SIZE_T read_memory(void* data, OPJ_SIZE_T n, void* user) {
  auto& memory = *static_cast<Memory*>(user);
  if (memory.at >= memory.bytes.size()) return static_cast<OPJ_SIZE_T>(-1);
  n = std::min<OPJ_SIZE_T>(n, memory.bytes.size() - memory.at);
  std::copy_n(memory.bytes.begin() + static_cast<std::ptrdiff_t>(memory.at), n, static_cast<unsigned char*>(data));
  memory.at += n;
  return n;
}
OPJ_OFF_T skip_memory(OPJ_OFF_T n, void* user) {
  auto& memory = *static_cast<Memory*>(user);
  memory.at += static_cast<std::size_t>(n);
  return n;
}
OPJ_BOOL seek_memory(OPJ_OFF_T to, void* user) {
  static_cast<Memory*>(user)->at = static_cast<std::size_t>(to);
  return OPJ_TRUE;
}

opj_stream_t* stream_on(Memory& memory, bool reading) {
  opj_stream_t* stream = opj_stream_create(1 << 16, reading ? OPJ_TRUE : OPJ_FALSE);
  opj_stream_set_user_data(stream, &memory, nullptr);
  opj_stream_set_user_data_length(stream, memory.bytes.size());
  opj_stream_set_read_function(stream, read_memory);
  opj_stream_set_write_function(stream, write_memory);
  opj_stream_set_skip_function(stream, skip_memory);
  opj_stream_set_seek_function(stream, seek_memory);
  return stream;
}

/// Encodes at a ratio and decodes; bytes is 0 if the library fails.
Result openjpeg_at(const std::vector<double>& values, std::size_t rows, std::size_t cols, double ratio) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double scale = 65535 / (*high - *low);
  opj_image_cmptparm_t component{};
  component.dx = component.dy = 1;
  component.w = static_cast<OPJ_UINT32>(cols);
  component.h = static_cast<OPJ_UINT32>(rows);
  component.prec = 16;
  opj_image_t* image = opj_image_create(1, &component, OPJ_CLRSPC_GRAY);
  image->x1 = component.w;
  image->y1 = component.h;
  for (std::size_t i = 0; i < values.size(); ++i)
    image->comps[0].data[i] = static_cast<OPJ_INT32>(std::lround((values[i] - *low) * scale));
  opj_cparameters_t parameters;
  opj_set_default_encoder_parameters(&parameters);
  parameters.irreversible = 1;
  parameters.tcp_numlayers = 1;
  parameters.tcp_rates[0] = static_cast<float>(ratio);
  parameters.cp_disto_alloc = 1;
  parameters.numresolution = std::clamp(static_cast<int>(std::log2(static_cast<double>(std::min(rows, cols)))), 2, 9);
  Result result;
  Memory memory;
  double start = thread_seconds();
  opj_codec_t* codec = opj_create_compress(OPJ_CODEC_J2K);
  opj_stream_t* out = stream_on(memory, false);
  const bool coded = opj_setup_encoder(codec, &parameters, image) && opj_start_compress(codec, image, out) &&
                     opj_encode(codec, out) && opj_end_compress(codec, out);
  opj_stream_destroy(out);
  opj_destroy_codec(codec);
  opj_image_destroy(image);
  result.encode_seconds = thread_seconds() - start;
  if (!coded) return {};
  memory.at = 0;
  start = thread_seconds();
  codec = opj_create_decompress(OPJ_CODEC_J2K);
  opj_dparameters_t decoder;
  opj_set_default_decoder_parameters(&decoder);
  opj_stream_t* in = stream_on(memory, true);
  opj_image_t* decoded = nullptr;
  const bool good =
      opj_setup_decoder(codec, &decoder) && opj_read_header(in, codec, &decoded) && opj_decode(codec, in, decoded);
  result.decode_seconds = thread_seconds() - start;
  if (good) {
    std::vector<double> back(values.size());
    for (std::size_t i = 0; i < back.size(); ++i) back[i] = *low + decoded->comps[0].data[i] / scale;
    result.nrmse = nrmse_of(values, back);
    result.bytes = memory.bytes.size();
  }
  opj_stream_destroy(in);
  opj_destroy_codec(codec);
  if (decoded) opj_image_destroy(decoded);
  return result;
}

}  // namespace
#endif

std::optional<Result> run_openjpeg([[maybe_unused]] const std::vector<double>& values,
                                   [[maybe_unused]] std::size_t rows, [[maybe_unused]] std::size_t cols,
                                   [[maybe_unused]] double bound) {
#ifdef EFFORT_BENCH_OPENJPEG
  if (bound < 1e-4) return std::nullopt;
  std::optional<Result> best;
  double low = 1, high = 40000;  // ratio against 16-bit samples
  for (int k = 0; k < 10; ++k) {
    const double ratio = std::sqrt(low * high);
    const Result result = openjpeg_at(values, rows, cols, ratio);
    if (result.bytes > 0 && result.nrmse <= bound) {
      best = result;
      low = ratio;
    } else {
      high = ratio;
    }
  }
  return best;
#else
  return std::nullopt;
#endif
}

std::optional<std::vector<double>> published(const std::string& codec, const std::string& kind, std::size_t rows) {
  using Key = std::tuple<std::string, std::string, std::size_t>;
  static const std::map<Key, std::vector<double>> figures{
      {{"SPERR", "rough", 1024}, {2371, 26.46, 11.23, 4.089}},
      {{"SZ3", "rough", 1024}, {118.4, 26.99, 11.32, 3.063}},
      {{"SPERR", "amr", 1024}, {3.526e+04, 4639, 29.1, 5.279}},
      {{"SZ3", "amr", 1024}, {3234, 1952, 28.17, 4.922}},
      {{"SPERR", "static", 1024}, {3.672e+04, 1961, 18.23, 4.764}},
      {{"SZ3", "static", 1024}, {4910, 573.7, 18.27, 4.285}},
      {{"SPERR", "ckpt", 1024}, {2140, 708, 54.78, 5.638}},
      {{"SZ3", "ckpt", 1024}, {9352, 3403, 52.92, 5.591}},
      {{"SPERR", "remesh", 1024}, {638.8, 156.8, 17.66, 4.721}},
      {{"SZ3", "remesh", 1024}, {182.3, 80.85, 16.37, 3.495}},
      {{"SPERR", "spiky", 1024}, {2.542e+05, 2.542e+05, 2.156e+05, 7.555}},
      {{"SZ3", "spiky", 1024}, {1.258e+04, 1.258e+04, 1.226e+04, 7.574}},
      {{"SPERR", "noise", 1024}, {397.3, 23.41, 10.63, 4.006}},
      {{"SZ3", "noise", 1024}, {79.55, 24.37, 10.81, 2.841}},
      {{"SPERR", "rough", 16384}, {1163, 24.46, 10.94, 4.056}},
      {{"SZ3", "rough", 16384}, {107.1, 26.75, 11.31, 3.526}},
      {{"SPERR", "amr", 16384}, {1.603e+04, 5457, 27.32, 5.254}},
      {{"SZ3", "amr", 16384}, {3055, 722.9, 27.71, 5.032}},
      {{"SPERR", "static", 16384}, {1.683e+04, 70.65, 14.39, 4.468}},
      {{"SZ3", "static", 16384}, {1.239e+04, 55.98, 14.88, 4.25}},
      {{"SPERR", "ckpt", 16384}, {4139, 1416, 74.95, 5.767}},
      {{"SZ3", "ckpt", 16384}, {1.218e+04, 8455, 55.22, 5.669}},
      {{"SPERR", "remesh", 16384}, {146, 60.46, 15.01, 4.535}},
      {{"SZ3", "remesh", 16384}, {135.3, 46.35, 13.74, 3.12}},
      {{"SPERR", "spiky", 16384}, {7.944e+05, 7.944e+05, 7.637e+05, 7.477}},
      {{"SZ3", "spiky", 16384}, {1.262e+04, 1.262e+04, 1.222e+04, 7.603}},
      {{"SPERR", "noise", 16384}, {87.25, 20.64, 10.12, 3.936}},
      {{"SZ3", "noise", 16384}, {61.78, 22.4, 10.42, 3.136}},
  };
  const auto found = figures.find({codec, kind, rows});
  if (found == figures.end()) return std::nullopt;
  return found->second;
}

}  // namespace effort::bench
