// effort sample-size --rows N --cols D [--labels l.txt] --confidence 0.90 --error 0.08 in.f64
#include <algorithm>
#include <cstdio>
#include <string>

#include "analytics/sampling/sample_size.hpp"
#include "tools/commands/commands.hpp"
#include "tools/files/raw_file.hpp"
#include "tools/output/output.hpp"

namespace effort::tools {

namespace {

int strata_of(const std::vector<std::int32_t>& labels, const std::string& file) {
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    // Strata are numbered from 0; numbers beyond the number of rows would only cost memory.
    if (labels[i] < 0 || static_cast<std::size_t>(labels[i]) >= labels.size()) {
      throw std::runtime_error("stratum " + std::to_string(labels[i]) + " (file '" + file + "', row " +
                               std::to_string(i) + "): number strata from 0 without gaps");
    }
    largest = std::max(largest, labels[i]);
  }
  return largest + 1;
}

const char* design_name(sampling::Design design) {
  switch (design) {
    case sampling::Design::unified: return "unified";
    case sampling::Design::per_stratum: return "per_stratum";
    case sampling::Design::neyman: return "neyman";
  }
  return "unknown";
}

void print_text(const SampleSizeArguments& a, const sampling::SamplePlan& plan) {
  std::printf("For a relative error of %s with %s confidence, of %zu ranks:\n", percent_text(a.error).c_str(),
              percent_text(a.confidence).c_str(), a.rows);
  std::printf("  %lld without strata\n  %lld with strata where they help (%s)\n", static_cast<long long>(plan.unified),
              static_cast<long long>(plan.stratified), design_name(plan.cheapest));
  if (plan.per_stratum.size() < 2) return;
  Table table({{"stratum", Table::Align::left}, {"for its own mean"}, {"by Neyman allocation"}});
  for (std::size_t k = 0; k < plan.per_stratum.size(); ++k) {
    table.add({std::to_string(k), std::to_string(plan.per_stratum[k]), std::to_string(plan.neyman_allocation[k])});
  }
  table.add({"all", std::to_string(plan.per_stratum_total), std::to_string(plan.neyman)});
  std::fputs(table.text().c_str(), stdout);
}

}  // namespace

void run_sample_size(const SampleSizeArguments& a) {
  sampling::PlanParameters parameters;
  parameters.accuracy = {a.confidence, a.error};
  const std::vector<double> values = read_raw(a.in, a.rows, a.cols);
  const std::vector<std::int32_t> labels =
      a.labels.empty() ? std::vector<std::int32_t>() : read_integers(a.labels, a.rows);
  const sampling::SamplePlan plan = on_data_of(a.in, [&] {
    return sampling::plan_samples(values, a.rows, a.cols, labels, strata_of(labels, a.labels), parameters);
  });
  if (!a.json) return print_text(a, plan);
  print_json({{"unified", plan.unified},
              {"stratified", plan.stratified},
              {"per_stratum", plan.per_stratum},
              {"per_stratum_total", plan.per_stratum_total},
              {"neyman", plan.neyman},
              {"neyman_allocation", plan.neyman_allocation},
              {"design", design_name(plan.cheapest)},
              {"allocation", plan.allocation}});
}

}  // namespace effort::tools
