// The options of all subcommands.  In one place, because CLI11 consists of headers that take long to compile.
#include "tools/commands/options.hpp"

#include "analytics/number_text.hpp"
#include "tools/commands/commands.hpp"
#include "tools/place/node_file.hpp"

#include <charconv>
#include <cmath>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace effort::tools {

namespace {

/// Accepts a number from 0 on, and a percentage, which it turns into one.
std::string as_share(std::string& text) {
  const bool percent = text.ends_with('%');
  const char* const last = text.data() + text.size() - (percent ? 1 : 0);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc{} || end != last || !std::isfinite(value) || value < 0)
    return "'" + text + "' is not a share: write 0.05 or 5%";
  if (percent) text = general_text(value / 100, 17);
  return {};
}
const CLI::Validator to_share(as_share, "SHARE");

template <typename Condition>
CLI::Validator number_that(const char* must_be, const char* type, Condition holds) {
  const auto check = [must_be, holds](const std::string& text) {
    double value = 0;
    return CLI::detail::lexical_cast(text, value) && std::isfinite(value) && holds(value)
               ? std::string()
               : std::string("must be ") + must_be + ": " + text;
  };
  return {check, type};
}

CLI::Validator between_0_and_1() {
  return number_that("greater than 0 and less than 1", "in (0, 1)", [](double x) { return x > 0 && x < 1; });
}

}  // namespace

CLI::Validator positive() {
  return number_that("greater than 0", "POSITIVE", [](double x) { return x > 0; });
}

CLI::Validator not_negative() {
  return number_that("0 or greater", "NONNEGATIVE", [](double x) { return x >= 0; });
}

namespace {

void add_info(CLI::App& app) {
  auto a = std::make_shared<InfoArguments>();
  CLI::App* command = app.add_subcommand("info", "Checks a snapshot and prints its contents");
  command->add_option("SNAP", a->snapshot, "snapshot file")->required();
  command->add_flag("--all", a->all, "every region and window instead of one screen");
  command->add_option("--heat-map", a->heat_map, "a picture of the load (auto: on a terminal)")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "always", "never"}));
  command->add_option("--module-path", a->module_paths,
                      "directory or file of a program or library that call paths point into (repeatable)");
  command->add_flag("--raw-names", a->raw_names, "leave call paths as they are in the snapshot");
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_info(*a); });
}

void add_report(CLI::App& app) {
  auto a = std::make_shared<ReportArguments>();
  CLI::App* command =
      app.add_subcommand("report", "Writes one self-contained page that shows runs in any browser, offline");
  command
      ->add_option(
          "SNAP", a->inputs,
          "snapshot files (several are compared), and the traces and function calls of their runs (files of effort "
          "calls encode, recordings, or directories of them; several are compared)")
      ->required();
  command
      ->add_option("--trace-bytes", a->trace_bytes,
                   "limit on the bytes of trace events in the page; the most unusual windows come first")
      ->capture_default_str();
  command
      ->add_option("--communication-bytes", a->communication_bytes,
                   "limit on the bytes of a snapshot's communication matrix in the page, and of the findings in a "
                   "trace; the largest come first")
      ->capture_default_str();
  command
      ->add_option(
          "--calls-bytes", a->calls_bytes,
          "approximate limit on the bytes of function calls in the page; the contexts with the most calls come "
          "first")
      ->capture_default_str();
  command->add_option("-o", a->out, "page to write (HTML)")->required()->type_name(output_type);
  command->add_option("--source", a->source,
                      "directory of the application's source files, to show the lines of regions");
  command->add_option("--module-path", a->module_path,
                      "directory or file of a program or library that call paths point into (repeatable)");
  command->add_option("--order", a->orders,
                      "[NAME=]FILE: an order of ranks to offer in the page, such as that of the topology; the file "
                      "lists every rank once");
  command->add_option("--title", a->title, "title of the page (by default the names of the runs)")->type_name("WORDS");
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_report(*a); });
}

void add_top(CLI::App& app) {
  auto a = std::make_shared<TopArguments>();
  CLI::App* command = app.add_subcommand("top", "Follows a running job through its snapshots; q quits");
  command->add_option("SNAP_DIR", a->directory, "directory into which the run writes snapshots")->required();
  command->add_option("--job", a->job, "job to follow (by default the one that wrote last)");
  command->add_option("--interval", a->interval, "seconds between two updates")
      ->capture_default_str()
      ->check(CLI::Range(0.05, 3600.0));
  command->add_flag("--once", a->once, "print the current state and quit");
  command->add_option("--module-path", a->module_paths,
                      "directory or file of a program or library that call paths point into (repeatable)");
  command->add_flag("--json", a->json, "print the current state as one JSON object and quit");
  command->callback([a] { run_top(*a); });
}

void add_diff(CLI::App& app) {
  auto a = std::make_shared<DiffArguments>();
  CLI::App* command = app.add_subcommand(
      "diff", "Compares two runs, of any numbers of ranks: shows what got better and what got worse");
  command->add_option("A", a->a, "snapshot file of the run before the change")->required();
  command->add_option("B", a->b, "snapshot file of the run after it")->required();
  command->add_option("--metric", a->metric, "metric to compare (by default the first run's load metric)");
  command
      ->add_option("--threshold", a->threshold,
                   "relative change of a region's largest rank that counts as better or worse")
      ->capture_default_str()
      ->transform(to_share);
  command->add_option("--module-path", a->module_paths,
                      "directory or file of a program or library that call paths point into (repeatable)");
  command->add_flag("--all", a->all, "every region, including unchanged ones");
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_diff(*a); });
}

void add_check(CLI::App& app) {
  auto a = std::make_shared<CheckArguments>();
  CLI::App* command = app.add_subcommand("check", "Checks the balance of a run, for a program's own tests");
  command->add_option("SNAP", a->snapshot, "snapshot file")->required();
  command
      ->add_option(
          "--max-imbalance", a->max_imbalance,
          "largest allowed excess of the load's critical path over the mean of all ranks (0.2 or 20%: a fifth)")
      ->transform(to_share);
  command->add_option("--max-region", a->max_regions,
                      "NAME:SHARE%: largest allowed cost of a region's imbalance: its time on the slowest rank beyond "
                      "its mean over ranks, as a share of a mean step (repeatable)");
  command->add_option(
      "--baseline", a->baseline,
      "snapshot of an earlier run, whose imbalance, and cost of each region's imbalance, may not be exceeded");
  command->add_option("--tolerance", a->tolerance, "share by which the baseline may be exceeded")
      ->capture_default_str()
      ->transform(to_share);
  command->add_option("--module-path", a->module_paths,
                      "directory or file of a program or library that call paths point into (repeatable)");
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_check(*a); });
}

void add_export(CLI::App& app) {
  auto a = std::make_shared<ExportArguments>();
  CLI::App* command =
      app.add_subcommand("export", "Writes the loads of a snapshot in a format that other programs read");
  command->add_option("SNAP", a->snapshot, "snapshot file")->required();
  command
      ->add_option("--format", a->format,
                   "hdf5: for h5py, xarray, netCDF; vtk: image data (.vti) for ParaView, steps by ranks; csv: one line "
                   "per region, rank and step; npy: a directory with METRIC.npy and axes.json")
      ->required()
      ->check(CLI::IsMember({"hdf5", "vtk", "csv", "npy"}));
  command->add_option("-o", a->out, "file (npy: directory) to write")->required()->type_name(output_type);
  command->add_option("--region", a->region, "only this region")->type_name("NAME");
  command->add_option("--metric", a->metric, "only this metric")->type_name("NAME");
  command->add_option("--level", a->level, "the approximation that is 2^L times coarser in both directions")
      ->check(CLI::Range(0, 30));
  command->add_flag("--exact", a->exact, "the exact values, if they were stored (EXACT=1), and NaN elsewhere");
  command->add_option("--module-path", a->module_paths,
                      "directory or file of a program or library that call paths point into (repeatable)");
  command->add_flag("--raw-names", a->raw_names, "leave call paths as they are in the snapshot");
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_export(*a); });
}

void add_encode(CLI::App& app) {
  auto a = std::make_shared<EncodeArguments>();
  CLI::App* command = app.add_subcommand("encode", "Compresses a raw matrix (little-endian float64, C order), lossily");
  command->add_option("--rows", a->rows, "number of rows (ranks)")->required()->check(positive());
  command->add_option("--cols", a->cols, "number of columns (steps)")->required()->check(positive());
  CLI::Option_group* target = command->add_option_group("target", "when encoding stops (default: 5 passes)");
  target->add_option("--passes", a->passes, "bit-plane passes");
  target->add_option("--nrmse", a->nrmse, "at most this root mean square error over the range of the values");
  target->add_option("--max-error", a->max_error, "at most this absolute error");
  target->add_option("--max-bytes", a->max_bytes, "at most this size of the result");
  target->require_option(0, 1);
  command
      ->add_option(
          "--coder", a->coder,
          "context (the default: context models, arithmetic coding), or ezw (zerotrees, run lengths, Huffman codes)")
      ->check(CLI::IsMember({"context", "ezw"}));
  command->add_option("in", a->in, "raw matrix")->required();
  command->add_option("out", a->out, "compressed file to write")->required()->type_name(output_type);
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_encode(*a); });
}

void add_decode(CLI::App& app) {
  auto a = std::make_shared<DecodeArguments>();
  CLI::App* command = app.add_subcommand("decode", "Expands a file written by encode into a raw matrix");
  command->add_option("--passes", a->passes, "use only this many bit-plane passes")->check(positive());
  command->add_option("--level", a->level, "the approximation that is 2^L times coarser in both directions")
      ->check(CLI::Range(0, 30));
  command->add_option("in", a->in, "compressed file")->required();
  command->add_option("out", a->out, "raw matrix to write")->required()->type_name(output_type);
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_decode(*a); });
}

void add_cluster(CLI::App& app) {
  auto a = std::make_shared<ClusterArguments>();
  CLI::App* command = app.add_subcommand(
      "cluster", "Groups the rows of a raw matrix around medoids (Euclidean distance; rows count from 0)");
  command->add_option("--rows", a->rows, "number of rows (objects)")->required()->check(positive());
  command->add_option("--cols", a->cols, "values per row")->required()->check(positive());
  command->add_option("-k", a->k_text, "number of strata, or auto")->required()->type_name("NUMBER");
  command->add_option("--algorithm", a->algorithm, "algorithm")
      ->capture_default_str()
      ->check(CLI::IsMember({"clara", "pam", "quality", "hierarchical"}));
  command->add_option("--linkage", a->linkage, "linkage of hierarchical")
      ->capture_default_str()
      ->check(CLI::IsMember({"average", "complete", "single", "ward"}));
  command->add_option("--seed", a->seed, "seed of the random draws")->capture_default_str();
  command->add_option("--samples", a->samples, "number of samples that clara searches")
      ->capture_default_str()
      ->check(positive());
  command->add_option("--sample-size", a->sample_size, "sample size of clara (40 + 2 k by default)")->check(positive());
  command->add_option("--medoids", a->medoids, "write the medoids to this file, one per line")->type_name(output_type);
  command->add_option("--labels", a->labels, "write the stratum of every row to this file, one per line")
      ->type_name(output_type);
  command->add_option("in", a->in, "raw matrix")->required();
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_cluster(*a); });
}

void add_sample_size(CLI::App& app) {
  auto a = std::make_shared<SampleSizeArguments>();
  CLI::App* command = app.add_subcommand(
      "sample-size", "Computes how many ranks to trace for a given relative error of every column's mean");
  command->add_option("--rows", a->rows, "number of rows (ranks)")->required()->check(positive());
  command->add_option("--cols", a->cols, "number of columns (metrics)")->required()->check(positive());
  command->add_option("--labels", a->labels, "file with the stratum of every rank, one per line");
  command->add_option("--confidence", a->confidence, "probability that the error is not exceeded")
      ->capture_default_str()
      ->check(between_0_and_1());
  command->add_option("--error", a->error, "error of each column's mean, relative to the mean")
      ->capture_default_str()
      ->check(positive());
  command->add_option("in", a->in, "raw matrix")->required();
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_sample_size(*a); });
}

void add_replay(CLI::App& app) {
  auto a = std::make_shared<ReplayArguments>();
  CLI::App* command = app.add_subcommand(
      "replay", "Runs the in-situ analysis on a recording (raw [regions][ranks][steps] seconds) as if live");
  command->add_option("--regions", a->regions, "number of regions")->required()->check(CLI::Range(1, 1 << 20));
  command->add_option("--ranks", a->ranks, "number of ranks")->required()->check(CLI::Range(1, 1 << 26));
  command->add_option("--steps", a->steps, "number of steps")->required()->check(CLI::Range(1, 1 << 30));
  command->add_option("--window", a->window, "steps per window, or auto: an analysis after every step")
      ->type_name("NUMBER")
      ->capture_default_str();
  command->add_option("--lag", a->lag, "steps from an analysis to its rebalance (default: 0; 2 with a fixed window)")
      ->check(CLI::Range(0, 1 << 20));
  command
      ->add_option("--rebalancer", a->rebalancer,
                   "model of a rebalance: ideal, bounded:SHARE, noisy:DEVIATION or blocks:N")
      ->type_name("MODEL")
      ->capture_default_str();
  command->add_option("--strata", a->strata, "number of strata, or auto")->type_name("NUMBER")->capture_default_str();
  command->add_option("--strata-level", a->strata_level, "strata on wavelet approximations of this level")
      ->check(CLI::Range(0, 30));
  command->add_option("--price", a->price, "seconds that a rebalance costs (by default unknown)")
      ->check(not_negative());
  command->add_flag("--price-unknown", a->price_unknown, "the decision knows the price only after its first rebalance");
  command
      ->add_option("--threshold", a->threshold,
                   "imbalance above which a rebalance is recommended while its price is unknown")
      ->capture_default_str()
      ->check(not_negative());
  command->add_option("--seed", a->seed, "seed of the random draws")->capture_default_str();
  command->add_option("--virtual-ranks", a->virtual_ranks, "repeat the recording to fill this many ranks")
      ->check(CLI::Range(1, 1 << 26));
  command
      ->add_option("--nodes", a->nodes,
                   "simulated nodes, each with a thread (by default one per 256 ranks, at most 16)")
      ->check(CLI::Range(1, 4096));
  command->add_option("--names", a->names, "JSON file with the names of the regions");
  command->add_option("-o", a->out, "snapshot file to write")->type_name(output_type);
  command->add_option("--passes", a->passes, "bit-plane passes of the snapshot")
      ->capture_default_str()
      ->check(CLI::Range(1, 60));
  command->add_flag("--exact", a->exact, "also store the raw windows in the snapshot");
  CLI::Option* const trace = command->add_flag("--trace", a->trace, "show how many ranks a trace would keep");
  command->add_option("--trace-confidence", a->trace_confidence, "probability that the trace's error is not exceeded")
      ->capture_default_str()
      ->check(between_0_and_1())
      ->needs(trace);
  command->add_option("--trace-error", a->trace_error, "error of the mean load, relative to it")
      ->capture_default_str()
      ->check(positive())
      ->needs(trace);
  command->add_option("cube", a->in, "recording to replay")->required();
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_replay(*a); });
}

void add_place(CLI::App& app) {
  auto a = std::make_shared<PlaceArguments>();
  CLI::App* command = app.add_subcommand(
      "place", "Finds an order of ranks with less traffic between nodes, for the next run with as many ranks");
  command->add_option("SNAP", a->snapshot, "snapshot file of a run with COMM_MATRIX=1")->required();
  const auto give = [](const char* option, std::string& of, const std::string& text) {
    if (!of.empty()) throw CLI::ValidationError(option, "'" + of + "' and '" + text + "' exclude each other");
    of = text;
  };
  const auto give_all = [a, give](const std::vector<std::string>& files) {
    for (const std::string& file : files) give("--topology", is_xml(file) ? a->node : a->topology, file);
  };
  const char* const help =
      "switches between nodes (Slurm's topology.conf), or the inside of a node (hwloc's XML), or both";
  command->add_option_function<std::vector<std::string>>("--topology", give_all, help)->expected(1)->take_all();
  command->add_option("--hosts", a->hosts, "file with the names of the run's nodes, one per line, node 0 first");
  command
      ->add_option("--format", a->format,
                   "rankfile: for Open MPI's mpirun; mpich: MPICH_RANK_ORDER of Cray MPICH; slurm: SLURM_HOSTFILE")
      ->capture_default_str()
      ->check(CLI::IsMember({"rankfile", "mpich", "slurm"}));
  command->add_option("-o", a->out, "file to write")->required()->type_name(output_type);
  command->add_flag("--json", a->json, "print one JSON object");
  command->add_option_function<std::string>(
      "--node", [a, give](const std::string& shape) { give("--node", a->node, shape); },
      "equal parts of a node at each level: 2x4x8 is 2 NUMA domains with 4 caches of 8 cores each; or hwloc's XML");
  command->callback([a] { run_place(*a); });
}

}  // namespace

void add_commands(CLI::App& app) {
  add_info(app);
  add_report(app);
  add_top(app);
  add_diff(app);
  add_check(app);
  add_export(app);
  add_encode(app);
  add_decode(app);
  add_cluster(app);
  add_sample_size(app);
  add_replay(app);
  add_place(app);
  add_trace(app);
  add_comm(app);
  add_calls(app);
}

}  // namespace effort::tools
