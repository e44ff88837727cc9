// effort replay.
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <limits>

#include "command.hpp"

using namespace effort::tools::test;

namespace {

constexpr int steps = 60;

/// Two regions and four ranks. Rank r takes `weights[r]` seconds per step, three quarters of them in region 0.
std::vector<double> cube(const std::vector<double>& weights) {
  std::vector<double> out;
  for (double share : {0.75, 0.25}) {
    for (double weight : weights) {
      for (int s = 0; s < steps; ++s) out.push_back(share * weight);
    }
  }
  return out;
}

std::vector<std::string> line(const std::vector<std::string>& more) {
  std::vector<std::string> out = {"replay", "--regions", "2", "--ranks", "4", "--steps", "60", "cube.f64", "--json"};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

}  // namespace

TEST_CASE("a replay shows which ranks a trace would keep, whatever the number of nodes") {
  const Scratch scratch;
  constexpr int ranks = 64;
  std::vector<double> loads;
  for (int r = 0; r < ranks; ++r)
    for (int s = 0; s < steps; ++s) loads.push_back(1 + 0.3 * std::sin(r * 12.9898 + s) + (r == 5 ? 4 : 0));
  scratch.write("cube.f64", loads);
  const std::vector<std::string> all = {"replay", "--regions", "1", "--ranks", "64", "--steps", "60", "cube.f64"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), all.begin(), all.end());
    return scratch.run(more);
  };
  const Outcome one = with({"--trace", "--json"}), four = with({"--trace", "--json", "--nodes", "4"});
  REQUIRE(one.code == 0);
  const auto of_one = one.json()["trace"], of_four = four.json()["trace"];
  CHECK(of_one["confidence"] == 0.9);
  REQUIRE(of_one["windows"].size() == 6);
  for (std::size_t w = 0; w < 6; ++w) {
    const auto &a = of_one["windows"][w], &b = of_four["windows"][w];
    for (const char* key : {"kept", "drawn", "reached"}) CHECK(a[key] == b[key]);
    CHECK(a["reached"].get<double>() <= 0.08);
    CHECK(a["kept"] < ranks);
    CHECK(a["drawn"] <= a["kept"]);
    CHECK(a["most_of_a_node"] == a["kept"]);
    CHECK(b["most_of_a_node"] <= b["kept"]);
    CHECK(4 * b["most_of_a_node"].get<int>() >= b["kept"].get<int>());
    CHECK(a["choice_seconds"] > 0);
  }
  const auto strict =
      with({"--trace", "--trace-error", "0.005", "--trace-confidence", "0.99", "--json"}).json()["trace"];
  CHECK(strict["error"] == 0.005);
  CHECK(strict["windows"][3]["kept"] > of_one["windows"][3]["kept"]);
  CHECK(strict["windows"][3]["reached"] <= 0.005);
  const Outcome text = with({"--trace"});
  CHECK(text.out.find("requested: an error of 8.0 % with 90.0 % confidence") != std::string::npos);
  CHECK(text.out.find("ranks kept") != std::string::npos);
  CHECK_FALSE(with({"--json"}).json().contains("trace"));
  CHECK(with({"--trace-error", "0.1"}).err.find("--trace-error requires --trace") != std::string::npos);
  CHECK(with({"--trace", "--trace-error", "0"}).err.find("--trace-error: must be greater than 0: 0") !=
        std::string::npos);
  CHECK(with({"--price", "-1"}).err.find("--price: must be 0 or greater: -1") != std::string::npos);
}

TEST_CASE("a constant imbalance costs as much as the model says") {
  const Scratch scratch;
  scratch.write("cube.f64", cube({1, 1.25, 0.75, 3}));
  const Outcome outcome = scratch.run(line({"--window", "10", "--lag", "2", "--price", "2", "--strata", "2"}));
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const auto json = outcome.json();
  // Never: 60 steps of 3 s.  Best: one step of 3 s, the price, 59 steps of the mean, 1.5 s.
  CHECK(std::abs(json["cost_never"].get<double>() - 180) < 1e-9);
  CHECK(std::abs(json["cost_best"].get<double>() - (3 + 2 + 59 * 1.5)) < 1e-9);
  CHECK(json["cost_chosen"].get<double>() >= json["cost_best"].get<double>() - 1e-9);
  CHECK(json["cost_chosen"].get<double>() < 180);
  REQUIRE(json["windows"].size() == 6);
  const auto& first = json["windows"][0];
  CHECK(first["first"] == 0);
  CHECK(first["last"] == 9);
  CHECK(std::abs(first["imbalance"].get<double>() - 1) < 1e-12);
  CHECK(first["prediction_error"].is_null());
  for (const char* key : {"rebalance", "rebalanced_at", "strata", "unified", "stratified"}) CHECK(first.contains(key));
  CHECK(json["stage_seconds"].size() >= 3);
  for (const auto& seconds : json["stage_seconds"]) CHECK(seconds.get<double>() >= 0);
  CHECK(json["stage_bytes"].size() == json["stage_seconds"].size());
  for (const char* stage : {"loads", "prediction", "strata", "decision"})
    CHECK(json["stage_bytes"][stage].get<long>() > 0);
  CHECK(json["stage_bytes"]["cost model"] == 0);  // a recording has no units of work
}

TEST_CASE("a rebalance shows in the windows after it") {
  const Scratch scratch;
  scratch.write("cube.f64", cube({1, 1.25, 0.75, 3}));
  const auto json = scratch.run(line({"--price", "0.5", "--window", "10"})).json();
  bool seen = false;
  double before = 0;
  for (const auto& window : json["windows"]) {
    if (seen && window["first"].get<int>() > before) CHECK(window["imbalance"].get<double>() < 0.01);
    if (window["rebalanced_at"].is_null() || seen) continue;
    seen = true;
    before = window["rebalanced_at"].get<double>();
    CHECK(window["rebalance"] == 1);
    CHECK(before == window["last"].get<int>() + 1 + 2);
  }
  CHECK(seen);
}

TEST_CASE("a balanced run is left alone") {
  const Scratch scratch;
  scratch.write("cube.f64", cube({2, 2, 2, 2}));
  const auto json = scratch.run(line({"--price", "0.5"})).json();
  CHECK(json["cost_never"] == json["cost_chosen"]);
  CHECK(std::abs(json["cost_best"].get<double>() - 120) < 1e-9);
  for (const auto& window : json["windows"]) CHECK(window["rebalance"] == 0);
}

TEST_CASE("the snapshot of a replay contains the replayed run") {
  const Scratch scratch;
  scratch.write("cube.f64", cube({1, 1.25, 0.75, 3}));
  scratch.write_text("names.json", R"({"names": ["solve", "halo, \"left\""]})");
  const Outcome outcome =
      scratch.run(line({"--price", "1000", "--nodes", "2", "--names", "names.json", "--exact", "-o", "run.effort"}));
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const auto info = scratch.run({"info", "run.effort", "--json"}).json();
  CHECK(info["ranks"] == 4);
  CHECK(info["nodes"] == 2);
  CHECK(info["steps"] == 60);
  CHECK(info["windows"].size() == outcome.json()["windows"].size());
  CHECK(info["regions"][1]["name"] == "halo, \"left\"");
  // At this price nothing is rebalanced, so the loads are those of the recording.
  CHECK(std::abs(info["regions"][0]["total"].get<double>() - 60 * 6 * 0.75) < 1e-9);
  CHECK(std::abs(info["regions"][0]["imbalance"].get<double>() - 1) < 1e-12);
  REQUIRE(scratch.run({"export", "run.effort", "--format", "csv", "--exact", "-o", "out.csv"}).code == 0);
  CHECK(scratch.read_text("out.csv").find("time,\"halo, \"\"left\"\"\",compute,,3,59,0.75\n") != std::string::npos);
  // The file exists already.
  const Outcome again = scratch.run(line({"-o", "run.effort"}));
  CHECK(again.code == 1);
  CHECK(again.err.find("not overwritten") != std::string::npos);
}

TEST_CASE("replay refuses bad recordings and settings") {
  const Scratch scratch;
  std::vector<double> values = cube({1, 1.25, 0.75, 3});
  values[(1 * 4 + 2) * steps + 7] = std::numeric_limits<double>::quiet_NaN();
  scratch.write("cube.f64", values);
  Outcome outcome = scratch.run(line({}));
  CHECK(outcome.code == 1);
  CHECK(outcome.err.find("NaN (file 'cube.f64', region 1, row 2, column 7, byte 2936)") != std::string::npos);
  values[(1 * 4 + 2) * steps + 7] = -1000;
  scratch.write("cube.f64", values);
  outcome = scratch.run(line({}));
  CHECK(outcome.code == 1);
  CHECK(outcome.err.find("negative loads") != std::string::npos);
  CHECK(scratch.run(line({"--rebalancer", "perfect"})).code == 2);
  CHECK(scratch.run(line({"--window", "0"})).code == 2);
  CHECK(scratch.run(line({"--strata", "some"})).code == 2);
  CHECK(scratch.run(line({"--price", "-3"})).code == 2);
  CHECK(scratch.run({"replay", "--regions", "3", "--ranks", "4", "--steps", "60", "cube.f64"}).code == 1);
}
