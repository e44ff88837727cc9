// effort cluster and effort sample-size.
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "command.hpp"

using namespace effort::tools::test;

namespace {

/// Three groups of rows around (0,0), (10,0), (0,20), of 8, 12 and 20 members.
std::vector<double> groups() {
  std::vector<double> out;
  for (int i = 0; i < 40; ++i) {
    const double jitter = 0.01 * ((i * 37) % 23), other = 0.01 * ((i * 53) % 19);
    out.push_back((i < 8 ? 0 : i < 20 ? 10 : 0) + jitter);
    out.push_back((i < 20 ? 0 : 20) + other);
  }
  return out;
}

double distance(const std::vector<double>& values, int a, int b) {
  return std::hypot(values[2 * static_cast<std::size_t>(a)] - values[2 * static_cast<std::size_t>(b)],
                    values[2 * static_cast<std::size_t>(a) + 1] - values[2 * static_cast<std::size_t>(b) + 1]);
}

double cost_of(const std::vector<double>& values, const std::vector<int>& medoids) {
  const int n = static_cast<int>(values.size() / 2);
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    double nearest = std::numeric_limits<double>::infinity();
    for (int m : medoids) nearest = std::min(nearest, distance(values, i, m));
    sum += nearest;
  }
  return sum / n;
}

}  // namespace

TEST_CASE("every algorithm finds three clear groups") {
  const Scratch scratch;
  const std::vector<double> values = groups();
  scratch.write("in.f64", values);
  for (const char* algorithm : {"clara", "pam", "quality", "hierarchical"}) {
    for (const char* k : {"3", "auto"}) {
      INFO(algorithm << " " << k);
      const Outcome outcome = scratch.run({"cluster", "--rows", "40", "--cols", "2", "-k", k, "--algorithm", algorithm,
                                           "--medoids", "m.txt", "--labels", "l.txt", "in.f64", "--json"});
      REQUIRE(outcome.code == 0);
      const auto json = outcome.json();
      CHECK(json["k"] == 3);
      CHECK(json["seconds"].get<double>() >= 0);
      const auto sizes = json["sizes"].get<std::vector<int>>();
      CHECK(std::multiset<int>(sizes.begin(), sizes.end()) == std::multiset<int>{8, 12, 20});
      const auto medoids = json["medoids"].get<std::vector<int>>();
      CHECK(scratch.read_lines("m.txt") == medoids);
      CHECK(std::abs(json["cost"].get<double>() - cost_of(values, medoids)) < 1e-12);
      const std::vector<int> labels = scratch.read_lines("l.txt");
      REQUIRE(labels.size() == 40);
      for (int i = 0; i < 40; ++i) {
        CHECK(labels[static_cast<std::size_t>(i)] == labels[i < 8 ? 0 : i < 20 ? 8 : 20]);
      }
    }
  }
}

TEST_CASE("pam is optimal if all pairs can be tried") {
  const Scratch scratch;
  std::vector<double> values;
  for (int i = 0; i < 12; ++i) {
    values.push_back((i * i * 31) % 17);
    values.push_back((i * 43) % 13);
  }
  scratch.write("in.f64", values);
  double best = std::numeric_limits<double>::infinity();
  for (int a = 0; a < 12; ++a) {
    for (int b = a + 1; b < 12; ++b) best = std::min(best, cost_of(values, {a, b}));
  }
  const Outcome outcome =
      scratch.run({"cluster", "--rows", "12", "--cols", "2", "-k", "2", "--algorithm", "pam", "in.f64", "--json"});
  REQUIRE(outcome.code == 0);
  CHECK(std::abs(outcome.json()["cost"].get<double>() - best) < 1e-12);
}

TEST_CASE("the same seed gives the same answer") {
  const Scratch scratch;
  scratch.write("in.f64", groups());
  const std::vector<std::string> line = {"cluster", "--rows",    "40",     "--cols", "2",
                                         "-k",      "5",         "--seed", "9",      "--sample-size",
                                         "12",      "--samples", "3",      "in.f64", "--json"};
  CHECK(scratch.run(line).json()["medoids"] == scratch.run(line).json()["medoids"]);
}

TEST_CASE("cluster refuses invalid arguments") {
  const Scratch scratch;
  scratch.write("in.f64", groups());
  CHECK(scratch.run({"cluster", "--rows", "40", "--cols", "2", "-k", "41", "in.f64"}).code == 2);
  CHECK(scratch.run({"cluster", "--rows", "40", "--cols", "2", "-k", "0", "in.f64"}).code == 2);
  CHECK(scratch.run({"cluster", "--rows", "40", "--cols", "2", "-k", "many", "in.f64"}).code == 2);
  CHECK(scratch.run({"cluster", "--rows", "0", "--cols", "2", "-k", "1", "in.f64"}).code == 2);
  CHECK(scratch.run({"cluster", "--rows", "40", "--cols", "2", "-k", "3", "--algorithm", "luck", "in.f64"}).code == 2);
  CHECK(scratch.run({"cluster", "--rows", "41", "--cols", "2", "-k", "3", "in.f64"}).code == 1);
  CHECK(scratch.run({"cluster", "--rows", "40", "--cols", "2", "-k", "3", "none.f64"}).code == 1);
}

TEST_CASE("sample sizes follow the formula") {
  const Scratch scratch;
  // 200 rows; column 0: half 1, half 3 (mean 2, deviation sqrt(200/199)); column 1 hardly varies.
  std::vector<double> values;
  std::string labels;
  for (int i = 0; i < 200; ++i) {
    values.push_back(i % 2 == 0 ? 1 : 3);
    values.push_back(5 + 1e-6 * i);
    labels += i % 2 == 0 ? "0\n" : "1\n";
  }
  scratch.write("in.f64", values);
  scratch.write_text("l.txt", labels);
  const double z = 1.6448536269514722, deviation = std::sqrt(200.0 / 199), bound = 0.08 * 2;
  const int expected = static_cast<int>(std::ceil(200 / (1 + 200 * std::pow(bound / (z * deviation), 2))));
  const Outcome plain = scratch.run(
      {"sample-size", "--rows", "200", "--cols", "2", "--confidence", "0.90", "--error", "0.08", "in.f64", "--json"});
  REQUIRE(plain.code == 0);
  CHECK(plain.json()["unified"] == expected);
  const Outcome strata = scratch.run({"sample-size", "--rows", "200", "--cols", "2", "--labels", "l.txt",
                                      "--confidence", "0.90", "--error", "0.08", "in.f64", "--json"});
  REQUIRE(strata.code == 0);
  const auto json = strata.json();
  CHECK(json["unified"] == expected);
  // Within a stratum, the variation is negligible.
  const auto parts = json["per_stratum"].get<std::vector<int>>();
  REQUIRE(parts.size() == 2);
  CHECK(std::accumulate(parts.begin(), parts.end(), 0) <= 4);
  CHECK(json["stratified"].get<int>() <= 4);
}

TEST_CASE("sample-size refuses labels that do not match the rows") {
  const Scratch scratch;
  scratch.write("in.f64", std::vector<double>(10, 1.0));
  scratch.write_text("short.txt", "0\n1\n");
  scratch.write_text("wild.txt", "0\n1\n0\n1\n0\n1\n0\n1\n0\n1000000000\n");
  scratch.write_text("words.txt", "0\none\n");
  for (const char* name : {"short.txt", "wild.txt", "words.txt"}) {
    const Outcome outcome = scratch.run({"sample-size", "--rows", "10", "--cols", "1", "--labels", name, "in.f64"});
    INFO(outcome.err);
    CHECK(outcome.code == 1);
    CHECK(outcome.err.find(name) != std::string::npos);
  }
  CHECK(scratch.run({"sample-size", "--rows", "10", "--cols", "1", "--confidence", "1", "in.f64"}).code == 2);
  CHECK(scratch.run({"sample-size", "--rows", "10", "--cols", "1", "--error", "0", "in.f64"}).code == 2);
}
