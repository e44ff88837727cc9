// The subcommands of `effort`: the arguments of each, and the function that runs it.
//
// Errors are exceptions: UsageError ends the program with 2, any other with 1.
#pragma once

#include "tools/output/usage_error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace effort::tools {

struct InfoArguments {
  std::string snapshot, heat_map = "auto";
  std::vector<std::string> module_paths;
  bool all = false, raw_names = false, json = false;
};
void run_info(const InfoArguments& arguments);

struct ReportArguments {
  std::vector<std::string> inputs;  ///< snapshots, traces and function calls
  std::string out, source, title;
  std::size_t trace_bytes = 20'000'000, communication_bytes = 8'000'000, calls_bytes = 4'000'000;
  std::vector<std::string> orders, module_path;
  bool json = false;
};
void run_report(const ReportArguments& arguments);

struct TopArguments {
  std::string directory, job;
  std::vector<std::string> module_paths;
  double interval = 0.5;
  bool once = false, json = false;
};
void run_top(const TopArguments& arguments);

struct DiffArguments {
  std::string a, b, metric;
  std::vector<std::string> module_paths;
  double threshold = 0.02;
  bool all = false, json = false;
};
void run_diff(const DiffArguments& arguments);

struct ExportArguments {
  std::string snapshot, format, out, region, metric;
  std::vector<std::string> module_paths;
  int level = 0;
  bool exact = false, raw_names = false, json = false;
};
void run_export(const ExportArguments& arguments);

struct EncodeArguments {
  std::size_t rows = 0, cols = 0;
  std::optional<int> passes;
  std::optional<double> nrmse, max_error;
  std::optional<std::size_t> max_bytes;
  std::string coder = "context", in, out;
  bool json = false;
};
void run_encode(const EncodeArguments& arguments);

struct DecodeArguments {
  int passes = 0, level = 0;
  std::string in, out;
  bool json = false;
};
void run_decode(const DecodeArguments& arguments);

struct ClusterArguments {
  std::size_t rows = 0, cols = 0;
  std::string k_text, algorithm = "clara", linkage = "average", medoids, labels, in;
  int k = 0;  ///< 0: chosen from the data
  int samples = 5, sample_size = 0;
  std::uint64_t seed = 1;
  bool json = false;
};
void run_cluster(ClusterArguments arguments);

struct SampleSizeArguments {
  std::size_t rows = 0, cols = 0;
  std::string labels, in;
  double confidence = 0.90, error = 0.08;
  bool json = false;
};
void run_sample_size(const SampleSizeArguments& arguments);

struct ReplayArguments {
  std::size_t regions = 0, ranks = 0, steps = 0;
  int lag = -1, strata_level = 0, nodes = 0, passes = 5;
  std::string window = "auto", strata = "auto", rebalancer = "ideal", in, out, names;
  std::optional<double> price;
  double threshold = 0.1, trace_confidence = 0.90, trace_error = 0.08;
  std::uint64_t seed = 1;
  std::int64_t virtual_ranks = 0;
  bool exact = false, json = false, price_unknown = false, trace = false;
};
void run_replay(const ReplayArguments& arguments);

struct TraceInfoArguments {
  std::string trace;
  std::vector<std::string> module_paths;
  bool all = false, raw_names = false, json = false;
};
void run_trace_info(const TraceInfoArguments& arguments);

struct CheckArguments {
  std::string snapshot, baseline;
  std::optional<double> max_imbalance;
  std::vector<std::string> max_regions;  ///< "NAME:SHARE%"
  double tolerance = 0.02;
  std::vector<std::string> module_paths;
  bool json = false;
};
/// @throws CheckFailed if something does not hold
void run_check(const CheckArguments& arguments);

struct TraceExportArguments {
  std::string trace, format, out;
  std::vector<std::string> module_paths;
  std::uint64_t part_bytes = std::uint64_t{1} << 30;
  bool raw_names = false, json = false;
};
void run_trace_export(const TraceExportArguments& arguments);

struct TraceReduceArguments {
  std::string trace, method = "bounded";
  std::vector<std::string> segments;  ///< names of regions; empty: loop iterations, or steps
  std::vector<std::string> module_paths;
  bool all = false, thresholds = false, raw_names = false, json = false;
};
void run_trace_reduce(const TraceReduceArguments& arguments);

/// Arguments that all analyses of communication share.
struct CommArguments {
  std::string input;  ///< a trace, or for some a snapshot
  std::vector<std::string> module_paths;
  bool all = false, raw_names = false, json = false;
};
struct CommWaitsArguments : CommArguments {
  std::string steps;  ///< "A-B" or "A"; empty: all
};
void run_comm_waits(const CommWaitsArguments& arguments);
void run_comm_matrix(const CommArguments& arguments);

struct CommPairsArguments : CommArguments {
  std::string linkage = "average";
  std::vector<std::int32_t> pair;  ///< two ranks, or none
};
void run_comm_pairs(const CommPairsArguments& arguments);

struct CommPatternsArguments : CommArguments {
  std::string symbols = "relative", criterion = "AIC";
  std::optional<std::size_t> depth;
  std::size_t length = 2;
  double cutoff = 3.5;
};
void run_comm_patterns(const CommPatternsArguments& arguments);
void run_comm_phases(const CommPatternsArguments& arguments);

struct CommDiffArguments : CommPatternsArguments {
  std::string other;
};
void run_comm_diff(const CommDiffArguments& arguments);

struct CallsEncodeArguments {
  std::vector<std::string> inputs;
  std::string out;
  unsigned width = 2;
  bool json = false;
};
void run_calls_encode(const CallsEncodeArguments& arguments);

struct CallsDecodeArguments {
  std::string in, out;
  std::optional<std::uint64_t> stream;
  unsigned width = 0;  ///< 0: as before coding
  bool json = false;
};
void run_calls_decode(const CallsDecodeArguments& arguments);

/// Of `info` and `graph`.
struct CallsInfoArguments {
  std::vector<std::string> inputs, module_paths;
  std::string folded, folded_time, out;
  std::string by;  ///< "rank", "thread", or empty
  std::optional<std::int64_t> rank;
  unsigned width = 0;  ///< of raw streams; 0: they are refused
  bool all = false, json = false;
};
void run_calls_info(const CallsInfoArguments& arguments);
void run_calls_graph(const CallsInfoArguments& arguments);

struct CallsDiffArguments {
  std::string a, b;
  std::vector<std::string> module_paths;
  std::vector<std::int64_t> ranks;  ///< two, or none
  unsigned width = 0;
  bool all = false, json = false;
};
void run_calls_diff(const CallsDiffArguments& arguments);

struct CallsNamesArguments {
  std::vector<std::string> programs, files;
  bool leave_out = false, json = false;
};
void run_calls_names(const CallsNamesArguments& arguments);

struct PlaceArguments {
  std::string snapshot, topology, hosts, format = "rankfile", out;
  std::string node;  ///< "2x4x8", the parts of a node, or a file of hwloc; empty: not known
  bool json = false;
};
void run_place(const PlaceArguments& arguments);

}  // namespace effort::tools
