// effort encode and effort decode.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>

#include "command.hpp"

using namespace effort::tools::test;

namespace {

constexpr int rows = 48, cols = 70;

std::vector<double> matrix() {
  std::vector<double> out;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      out.push_back(2 + std::sin(0.1 * r + 0.05 * c) + (c % 10 == 0 ? 0.5 : 0) +
                    1e-3 * ((r * 7919 + c * 104729) % 101));
    }
  }
  return out;
}

double nrmse(const std::vector<double>& a, const std::vector<double>& truth) {
  double squares = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) squares += (a[i] - truth[i]) * (a[i] - truth[i]);
  const auto [least, most] = std::minmax_element(truth.begin(), truth.end());
  return std::sqrt(squares / static_cast<double>(truth.size())) / (*most - *least);
}

std::vector<std::string> encode(const std::string& option, const std::string& value, const std::string& out) {
  return {"encode", "--rows", "48", "--cols", "70", option, value, "in.f64", out, "--json"};
}

/// A stream of `tiles` tiles of 8192 x 512 ones, stored uncompressed with 32 MiB each.
std::vector<std::byte> large_stream(unsigned tiles) {
  std::vector<std::byte> out;
  const auto put = [&](unsigned byte) { out.push_back(static_cast<std::byte>(byte)); };
  const auto put_varint = [&](std::uint64_t n) {
    for (; n >= 128; n >>= 7) put(static_cast<unsigned>(n & 127) | 128u);
    put(static_cast<unsigned>(n));
  };
  const auto put_one = [&] {
    for (int i = 0; i < 64; i += 8) put(static_cast<unsigned>(std::bit_cast<std::uint64_t>(1.0) >> i) & 255u);
  };
  for (const unsigned byte : {0xE1u, 1u, 0u, 0u}) put(byte);
  for (const std::uint64_t extent :
       {std::uint64_t{tiles} * 8192, std::uint64_t{512}, std::uint64_t{8192}, std::uint64_t{512}})
    put_varint(extent);
  for (int i = 0; i < 4; ++i) put(0);  // no error
  put_one();
  for (unsigned t = 0; t < tiles; ++t) {
    put_varint(1 + std::uint64_t{8} * 8192 * 512);
    put(3);
    for (int i = 0; i < 8192 * 512; ++i) put_one();
  }
  std::uint32_t hash = 2166136261u;
  for (std::size_t i = 0; i < out.size(); ++i)
    if (i != 2 && i != 3) hash = (hash ^ std::to_integer<std::uint32_t>(out[i])) * 16777619u;
  hash ^= hash >> 16;
  out[2] = static_cast<std::byte>(hash & 255);
  out[3] = static_cast<std::byte>(hash >> 8 & 255);
  return out;
}

}  // namespace

TEST_CASE("encode stays within the requested error and reports the true error") {
  const Scratch scratch;
  scratch.write("in.f64", matrix());
  for (const char* bound : {"0.04", "0.01", "0.001", "1e-6"}) {
    const Outcome encoded = scratch.run(encode("--nrmse", bound, "out.ewz"));
    REQUIRE(encoded.code == 0);
    const Outcome decoded = scratch.run({"decode", "out.ewz", "back.f64", "--json"});
    REQUIRE(decoded.code == 0);
    CHECK(decoded.json()["rows"] == rows);
    CHECK(decoded.json()["cols"] == cols);
    const auto json = encoded.json();
    const double error = nrmse(scratch.read("back.f64"), matrix());
    CHECK(error <= std::stod(bound));
    CHECK(error <= json["nrmse"].get<double>());
    CHECK(json["nrmse"].get<double>() <= error * 1.002 + 1e-15);
    const auto size = std::filesystem::file_size(scratch / "out.ewz");
    CHECK(json["bytes"] == size);
    CHECK(std::abs(json["ratio"].get<double>() * static_cast<double>(size) / (8.0 * rows * cols) - 1) < 1e-12);
    CHECK(json["passes"].get<int>() > 0);
    CHECK(json["seconds"].get<double>() >= 0);
  }
}

TEST_CASE("encode reaches a given size or largest error") {
  const Scratch scratch;
  scratch.write("in.f64", matrix());
  REQUIRE(scratch.run(encode("--max-bytes", "700", "out.ewz")).code == 0);
  CHECK(std::filesystem::file_size(scratch / "out.ewz") <= 700);
  REQUIRE(scratch.run(encode("--max-error", "0.02", "out.ewz")).code == 0);
  REQUIRE(scratch.run({"decode", "out.ewz", "back.f64"}).code == 0);
  const std::vector<double> back = scratch.read("back.f64"), truth = matrix();
  double largest = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) largest = std::max(largest, std::abs(back[i] - truth[i]));
  CHECK(largest <= 0.02);
  CHECK(largest > 0);
}

TEST_CASE("more passes reduce the error; the default is five passes") {
  const Scratch scratch;
  scratch.write("in.f64", matrix());
  REQUIRE(scratch.run({"encode", "--rows", "48", "--cols", "70", "in.f64", "default.ewz"}).code == 0);
  REQUIRE(scratch.run(encode("--passes", "5", "five.ewz")).code == 0);
  CHECK(scratch.read_text("default.ewz") == scratch.read_text("five.ewz"));
  double before = std::numeric_limits<double>::infinity();
  for (const char* passes : {"1", "3", "5"}) {
    REQUIRE(scratch.run({"decode", "--passes", passes, "five.ewz", "back.f64"}).code == 0);
    const double error = nrmse(scratch.read("back.f64"), matrix());
    CHECK(error < before);
    before = error;
  }
}

TEST_CASE("a level is 2^L times coarser in both directions") {
  const Scratch scratch;
  scratch.write("in.f64", matrix());
  REQUIRE(scratch.run(encode("--nrmse", "0.001", "out.ewz")).code == 0);
  const Outcome decoded = scratch.run({"decode", "--level", "2", "out.ewz", "coarse.f64", "--json"});
  REQUIRE(decoded.code == 0);
  CHECK(decoded.json()["rows"] == 12);
  CHECK(decoded.json()["cols"] == 18);
  const std::vector<double> coarse = scratch.read("coarse.f64"), truth = matrix();
  REQUIRE(coarse.size() == 12 * 18);
  double mean = 0, expected = 0;
  for (double v : coarse) mean += v / static_cast<double>(coarse.size());
  for (double v : truth) expected += v / static_cast<double>(truth.size());
  CHECK(std::abs(mean / expected - 1) < 0.02);
}

TEST_CASE("a level of a large file takes less memory than the file has bytes") {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  SKIP("a sanitizer uses far more memory than the command");
#endif
  const Scratch scratch;
  scratch.write("large.ewz", large_stream(5));
  REQUIRE(std::filesystem::file_size(scratch / "large.ewz") > 160000 * 1024);
  const std::string limited = "ulimit -d 160000 && exec '" EFFORT_COMMAND "' decode --level 3 large.ewz coarse.f64";
  const Outcome outcome = scratch.run_program("sh", {"-c", limited});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(scratch.read("coarse.f64") == std::vector<double>(5 * 1024 * 64, 1.0));
}

TEST_CASE("the coder of the dissertation works too") {
  const Scratch scratch;
  scratch.write("in.f64", matrix());
  REQUIRE(
      scratch.run({"encode", "--rows", "48", "--cols", "70", "--coder", "ezw", "--nrmse", "0.01", "in.f64", "out.ewz"})
          .code == 0);
  REQUIRE(scratch.run({"decode", "out.ewz", "back.f64"}).code == 0);
  CHECK(nrmse(scratch.read("back.f64"), matrix()) <= 0.01);
}

TEST_CASE("encode refuses invalid matrices, naming file and place") {
  const Scratch scratch;
  std::vector<double> values = matrix();
  values[3 * cols + 5] = std::numeric_limits<double>::quiet_NaN();
  scratch.write("in.f64", values);
  Outcome outcome = scratch.run(encode("--passes", "5", "out.ewz"));
  CHECK(outcome.code == 1);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.find("NaN (file 'in.f64', row 3, column 5, byte 1720)") != std::string::npos);
  values[3 * cols + 5] = -std::numeric_limits<double>::infinity();
  scratch.write("in.f64", values);
  outcome = scratch.run(encode("--passes", "5", "out.ewz"));
  CHECK(outcome.code == 1);
  CHECK(outcome.err.find("infinity (file 'in.f64', row 3, column 5") != std::string::npos);
  values.pop_back();
  scratch.write("in.f64", values);
  outcome = scratch.run(encode("--passes", "5", "out.ewz"));
  CHECK(outcome.code == 1);
  CHECK(outcome.err.find("file 'in.f64', 26872 bytes; 48 x 70 float64 are 26880") != std::string::npos);
  outcome = scratch.run({"encode", "--rows", "4000000000", "--cols", "4000000000", "in.f64", "out.ewz"});
  CHECK(outcome.code == 1);
  CHECK_FALSE(std::filesystem::exists(scratch / "out.ewz"));
}

TEST_CASE("decode refuses damaged files, naming file and offset") {
  const Scratch scratch;
  scratch.write("in.f64", matrix());
  REQUIRE(scratch.run(encode("--passes", "5", "good.ewz")).code == 0);
  const std::string good = scratch.read_text("good.ewz");
  scratch.write_text("cut.ewz", good.substr(0, good.size() / 2));
  scratch.write_text("empty.ewz", "");
  scratch.write_text("noise.ewz", "this is not a stream at all, but text");
  for (const char* name : {"cut.ewz", "empty.ewz", "noise.ewz"}) {
    const Outcome outcome = scratch.run({"decode", name, "back.f64"});
    INFO(name << ": " << outcome.err);
    CHECK(outcome.code == 1);
    CHECK(outcome.err.find(std::string("file '") + name + "'") != std::string::npos);
    CHECK(outcome.err.find("byte") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(scratch / "back.f64"));
  }
}
