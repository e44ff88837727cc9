// No output replaces an input: a check of all commands at once, by the types of their options.
#include <string>
#include <utility>
#include <vector>

#include "tools/commands/options.hpp"
#include "tools/files/inputs.hpp"
#include "tools/output/usage_error.hpp"

namespace effort::tools {

namespace {

/// The options that were given and their values, of the command and all below it.
using Values = std::vector<std::pair<const CLI::Option*, std::string>>;

void add_values(const CLI::App& command, Values& out) {
  for (const CLI::Option* option : command.get_options())
    for (const std::string& value : option->results()) out.emplace_back(option, value);
  for (const CLI::App* inner : command.get_subcommands({})) add_values(*inner, out);
}

bool is_output(const CLI::Option& option) { return option.get_type_name() == output_type; }

/// Texts, but those from a list of words: "TEXT:{csv,npy}".
bool may_be_input(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.starts_with("TEXT") && !type.starts_with("TEXT:{");
}

}  // namespace

void check_outputs(const CLI::App& app) {
  Values values, outputs;
  add_values(app, values);
  for (const auto& [option, value] : values) {
    if (is_output(*option) && !value.empty()) outputs.emplace_back(option, value);
    if (!may_be_input(*option)) continue;
    count_as_input(value);
    count_as_input(value.substr(value.find('=') + 1));  // NAME=FILE
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [option, file] = outputs[i];
    refuse_input(file);
    for (std::size_t j = 0; j < i; ++j)
      if (same_file(outputs[j].second, file))
        throw UsageError(outputs[j].first->get_name() + " and " + option->get_name() + " are one file, '" + file +
                         "': give two");
  }
}

}  // namespace effort::tools
