// effort export.
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstring>
#include <sstream>

#include "command.hpp"
#include "golden_run.hpp"
#include "runs.hpp"

using namespace effort::tools::test;
using effort::record::test::golden_file;
using effort::record::test::golden_load;

namespace {

struct Npy {
  std::string header;
  std::vector<double> values;
};

/// An independent reader, written from the description of the format.
Npy parse_npy(const std::string& bytes) {
  Npy out;
  REQUIRE(bytes.size() > 10);
  REQUIRE(bytes.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  const std::size_t length = static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  REQUIRE((10 + length) % 64 == 0);
  out.header = bytes.substr(10, length);
  CHECK(out.header.back() == '\n');
  out.values.resize((bytes.size() - 10 - length) / 8);
  std::memcpy(out.values.data(), bytes.data() + 10 + length, 8 * out.values.size());
  return out;
}

bool hdf5_is_built(const Scratch& scratch) {
  scratch.write("probe.effort", golden_file(false));
  return scratch.run({"export", "probe.effort", "--format", "hdf5", "-o", "probe.h5"}).code == 0;
}

/// Root mean square difference from the true values, relative to their range, for one region.
double nrmse(const std::vector<double>& values, int region) {
  double squares = 0, least = 1e300, most = -1e300;
  for (int i = 0; i < 480; ++i) {
    const double truth = golden_load(region, i / 60, i % 60);
    const double difference = values[static_cast<std::size_t>(480 * region + i)] - truth;
    squares += difference * difference;
    least = std::min(least, truth);
    most = std::max(most, truth);
  }
  return std::sqrt(squares / 480) / (most - least);
}

}  // namespace

TEST_CASE("npy: region x rank x step within the error that info states") {
  const Scratch scratch;
  scratch.write("run.effort", golden_file(false));
  const Outcome outcome = scratch.run({"export", "run.effort", "--format", "npy", "-o", "dir"});
  REQUIRE(outcome.code == 0);
  CHECK(outcome.out.empty());
  const Npy npy = parse_npy(scratch.read_text("dir/cpu_time.npy"));
  CHECK(npy.header.find("'descr': '<f8', 'fortran_order': False, 'shape': (8, 8, 60), ") != std::string::npos);
  REQUIRE(npy.values.size() == 8 * 8 * 60);
  const auto info = scratch.run({"info", "run.effort", "--json"}).json();
  for (int region = 0; region < 8; ++region) {
    const double stated =
        info["regions"][static_cast<std::size_t>(region)]["metrics"]["cpu_time"]["nrmse"].get<double>();
    CHECK(nrmse(npy.values, region) <= stated);
    CHECK(stated <= info["nrmse"].get<double>());
  }
  const auto axes = nlohmann::json::parse(scratch.read_text("dir/axes.json"));
  CHECK(axes["regions"].size() == 8);
  CHECK(axes["regions"][5] == "region_5");
  CHECK(axes["ranks"] == nlohmann::json::array({0, 1, 2, 3, 4, 5, 6, 7}));
  CHECK(axes["steps"].size() == 60);
  CHECK(axes["metrics"]["cpu_time"]["unit"] == "s");
}

TEST_CASE("npy: exact values if they were stored") {
  const Scratch scratch;
  scratch.write("run.effort", golden_file(true));
  REQUIRE(scratch.run({"export", "run.effort", "--format", "npy", "--exact", "-o", "dir"}).code == 0);
  const Npy npy = parse_npy(scratch.read_text("dir/cpu_time.npy"));
  for (int i = 0; i < 8 * 480; ++i) {
    const double value = npy.values[static_cast<std::size_t>(i)];
    if (i % 60 < 50) {
      CHECK(std::isnan(value));
    } else {
      CHECK(value == golden_load(i / 480, i % 480 / 60, i % 60));
    }
  }
}

TEST_CASE("npy: one region at a coarser level") {
  const Scratch scratch;
  scratch.write("run.effort", golden_file(false));
  REQUIRE(scratch.run({"export", "run.effort", "--format", "npy", "--region", "region_2", "--level", "1", "-o", "dir"})
              .code == 0);
  const Npy npy = parse_npy(scratch.read_text("dir/cpu_time.npy"));
  // Nodes of 5 and 3 ranks: 3 and 2 rows.
  CHECK(npy.header.find("(1, 5, 30)") != std::string::npos);
  const auto axes = nlohmann::json::parse(scratch.read_text("dir/axes.json"));
  CHECK(axes["ranks"] == nlohmann::json::array({0, 2, 4, 5, 7}));
  CHECK(axes["rank_counts"] == nlohmann::json::array({2, 2, 1, 2, 1}));
  CHECK(axes["steps"][1] == 2);
}

TEST_CASE("csv: one line per region, rank and step") {
  const Scratch scratch;
  scratch.write("run.effort", golden_file(false));
  REQUIRE(scratch.run({"export", "run.effort", "--format", "csv", "-o", "out.csv"}).code == 0);
  REQUIRE(scratch.run({"export", "run.effort", "--format", "npy", "-o", "dir"}).code == 0);
  const Npy npy = parse_npy(scratch.read_text("dir/cpu_time.npy"));
  std::istringstream lines(scratch.read_text("out.csv"));
  std::string line;
  std::getline(lines, line);
  CHECK(line == "metric,region,kind,phase,rank,step,value");
  std::size_t count = 0;
  while (std::getline(lines, line)) {
    const std::size_t comma = line.rfind(',');
    REQUIRE(count < npy.values.size());
    CHECK(std::stod(line.substr(comma + 1)) == npy.values[count]);
    if (count == 481) CHECK(line.substr(0, comma) == "cpu_time,region_1,compute,,0,1");
    ++count;
  }
  CHECK(count == npy.values.size());
}

namespace {

/// Exports the same selection as NPY and in another format, and compares them with `readers.py`.
void compare(const Scratch& scratch, const std::string& format, const std::string& reader,
             const std::vector<std::string>& options) {
  std::vector<std::string> npy = {"export", "run.effort", "--format", "npy", "-o", "npy"},
                           other = {"export", "run.effort", "--format", format, "-o", "out." + format};
  npy.insert(npy.end(), options.begin(), options.end());
  other.insert(other.end(), options.begin(), options.end());
  REQUIRE(scratch.run(npy).code == 0);
  const Outcome written = scratch.run(other);
  INFO(written.err);
  REQUIRE(written.code == 0);
  CHECK(written.err.empty());
  const Outcome read = scratch.run_python(EFFORT_TEST_READERS, {reader, "out." + format, "npy"});
  INFO(read.err);
  if (read.code == 77) SKIP("the Python module for " + reader + " is not installed");
  CHECK(read.code == 0);
}

void compare_all(const std::string& format, const std::string& reader) {
  const Scratch scratch;
  scratch.write("run.effort", golden_file(true));
  compare(scratch, format, reader, {});
  compare(scratch, format, reader, {"--exact"});
  compare(scratch, format, reader, {"--region", "region_2", "--level", "1"});
  scratch.write("run.effort", interleaved_file());
  compare(scratch, format, reader, {});
  compare(scratch, format, reader, {"--level", "2"});
}

}  // namespace

TEST_CASE("hdf5: h5py reads the values, dimensions, units and errors") {
  const Scratch scratch;
  if (!hdf5_is_built(scratch)) SKIP("effort was built without HDF5");
  compare_all("hdf5", "hdf5");
}

TEST_CASE("hdf5: h5dump reads it") {
  const Scratch scratch;
  if (!hdf5_is_built(scratch)) SKIP("effort was built without HDF5");
  if (scratch.run_program("h5dump", {"--version"}).code != 0) SKIP("h5dump is not installed (hdf5-tools)");
  scratch.write("run.effort", golden_file(false));
  REQUIRE(scratch.run({"export", "run.effort", "--format", "hdf5", "-o", "out.h5"}).code == 0);
  const Outcome dump = scratch.run_program("h5dump", {"-d", "/cpu_time", "-s", "0,0,0", "-c", "1,8,60", "out.h5"});
  CHECK(dump.code == 0);
  CHECK(dump.out.find("SIMPLE { ( 8, 8, 60 ) / ( 8, 8, 60 ) }") != std::string::npos);
  CHECK(dump.out.find("DIMENSION_LIST") != std::string::npos);
  CHECK(dump.out.find("compression_nrmse") != std::string::npos);
}

TEST_CASE("hdf5: xarray reads it") {
  const Scratch scratch;
  if (!hdf5_is_built(scratch)) SKIP("effort was built without HDF5");
  compare_all("hdf5", "xarray");
}

TEST_CASE("vtk: the image follows the description of the format") { compare_all("vtk", "vti"); }

TEST_CASE("vtk: VTK reads it") { compare_all("vtk", "vtk"); }

TEST_CASE("csv: ranks are in order for any placement on nodes") {
  const Scratch scratch;
  scratch.write("run.effort", interleaved_file());
  REQUIRE(scratch.run({"export", "run.effort", "--format", "csv", "-o", "out.csv", "--metric", "time"}).code == 0);
  REQUIRE(scratch.run({"export", "run.effort", "--format", "npy", "-o", "dir"}).code == 0);
  const Npy npy = parse_npy(scratch.read_text("dir/time.npy"));
  std::istringstream lines(scratch.read_text("out.csv"));
  std::string line;
  std::getline(lines, line);
  std::size_t count = 0;
  while (std::getline(lines, line)) {
    REQUIRE(count < npy.values.size());
    CHECK(std::stod(line.substr(line.rfind(',') + 1)) == npy.values[count]);
    ++count;
  }
  CHECK(count == npy.values.size());
}

TEST_CASE("a failed export leaves the older file intact") {
  const Scratch scratch;
  scratch.write("run.effort", golden_file(false));
  scratch.write_text("out", "older");
  for (const char* format : {"csv", "vtk", "hdf5"}) {
    CHECK(scratch.run({"export", "run.effort", "--format", format, "-o", "out", "--region", "nix"}).code != 0);
    CHECK(scratch.read_text("out") == "older");
  }
}

TEST_CASE("export refuses what does not exist") {
  const Scratch scratch;
  scratch.write("run.effort", golden_file(false));
  CHECK(scratch.run({"export", "run.effort", "--format", "csv", "-o", "x", "--region", "nix"}).code == 1);
  CHECK(scratch.run({"export", "run.effort", "--format", "csv", "-o", "x", "--metric", "nix"}).code == 1);
  CHECK(scratch.run({"export", "run.effort", "--format", "csv", "-o", "no/such/dir/x"}).code == 1);
  CHECK(scratch.run({"export", "run.effort", "--format", "xml", "-o", "x"}).code == 2);
  for (const char* format : {"hdf5", "vtk"}) {
    CHECK(scratch.run({"export", "run.effort", "--format", format, "-o", "no/such/dir/x"}).code == 1);
    const Outcome outcome = scratch.run({"export", "run.effort", "--format", format, "-o", "/dev/full"});
    CHECK(outcome.code == 1);
    CHECK(outcome.err.find("regular file") != std::string::npos);
  }
  CHECK(scratch.run({"export", "run.effort", "--format", "csv"}).code == 2);
}
