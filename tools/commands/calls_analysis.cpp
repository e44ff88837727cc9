// effort calls info|graph IN..., effort calls diff A B
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "record/text.hpp"
#include "tools/calls/analysis.hpp"
#include "tools/commands/commands.hpp"
#include "tools/files/output_file.hpp"
#include "tools/output/output.hpp"
#include "tools/output/usage_error.hpp"

namespace effort::tools {

namespace {

void print_notes(const FunctionNames& names) {
  for (const std::string& note : names.notes) std::fprintf(stderr, "effort: %s\n", record::visible(note).c_str());
}

void write_text(const std::string& path, const std::string& text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace

void run_calls_info(const CallsInfoArguments& a) {
  const CallInput input(a.inputs, a.width);
  const FunctionNames names = function_names(input, {a.module_paths.begin(), a.module_paths.end()});
  const Grouping by = a.by.empty() ? Grouping::none : a.by == "rank" ? Grouping::rank : Grouping::thread;
  std::vector<StreamGroup> groups;
  const CallCounts counts = count_calls_by(input, a.rank, by, groups);
  const CallsInfo info{input, names, counts, by, groups};
  if (!a.folded_time.empty() && !counts.timed)
    throw UsageError("--folded-time needs time stamps: record with EFFORT_FUNCTIONS_STAMPS=1");
  if (!a.folded.empty()) write_text(a.folded, folded_stacks(names, counts, false));
  if (!a.folded_time.empty()) write_text(a.folded_time, folded_stacks(names, counts, true));
  if (a.json) {
    print_json(calls_info_json(info));
    return;
  }
  const std::string text = calls_info_text(info, a.all);
  std::fwrite(text.data(), 1, text.size(), stdout);
  print_notes(names);
}

void run_calls_graph(const CallsInfoArguments& a) {
  const CallInput input(a.inputs, a.width);
  const FunctionNames names = function_names(input, {a.module_paths.begin(), a.module_paths.end()});
  const CallCounts counts = count_calls(input, a.rank);
  CallTrees trees;
  add_trees(trees, input, a.rank, {});
  const std::vector<calls::Loop> loops = calls::loops_of(trees.builder.tree(), trees.streams);
  if (a.json) {
    print_json(calls_graph_json(names, counts, loops));
    return;
  }
  const std::string dot = calls_graph_dot(names, counts, loops);
  if (a.out.empty()) {
    std::fwrite(dot.data(), 1, dot.size(), stdout);
  } else {
    write_text(a.out, dot);
  }
  print_notes(names);
}

void run_calls_diff(const CallsDiffArguments& a) {
  const CallInput first({a.a}, a.width), second({a.b}, a.width);
  const std::vector<std::filesystem::path> search(a.module_paths.begin(), a.module_paths.end());
  const FunctionNames names_a = function_names(first, search);
  FunctionNames names_b = function_names(second, search);
  const CallDiff diff = diff_calls(first, names_a, second, names_b, a.ranks);
  if (a.json) {
    print_json(calls_diff_json(first, second, diff));
    return;
  }
  const std::string text = calls_diff_text(first, second, diff, a.all);
  std::fwrite(text.data(), 1, text.size(), stdout);
  print_notes(names_a);
  for (const std::string& note : names_a.notes) std::erase(names_b.notes, note);
  print_notes(names_b);
}

}  // namespace effort::tools
