#include "tools/command_line.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "record/text.hpp"
#include "tools/commands/options.hpp"
#include "tools/files/inputs.hpp"
#include "tools/output/output.hpp"
#include "tools/output/usage_error.hpp"

namespace effort::tools {

namespace {

constexpr int data_error = 1;
constexpr int usage_error = 2;
constexpr int check_failed = 3;

int complain(const std::string& message, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "effort: %s\n", record::visible(message).c_str());
  return code;
}

/// The one of `names` that was probably meant by `word`, as " (did you mean '...'?)", or nothing.
std::string suggestion(const std::string& word, const std::vector<std::string>& names) {
  const std::string* nearest = nullptr;
  for (const std::string& name : names)
    if (!nearest || record::distance(word, name) < record::distance(word, *nearest)) nearest = &name;
  if (!nearest || record::distance(word, *nearest) > std::max<std::size_t>(2, word.size() / 3)) return "";
  return " (did you mean '" + *nearest + "'?)";
}

/// "unknown command 'X'", with the existing commands and the one probably meant.
std::string unknown_command(const CLI::App& app, const std::string& word, const std::string& parent = "") {
  std::string all;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names.push_back(command->get_name());
    all += (all.empty() ? "" : ", ") + names.back();
  }
  const std::string of = parent.empty() ? "" : " of effort " + parent;
  if (word.empty()) return "no command is given: the commands" + of + " are " + all;
  return "unknown command '" + word + "'" + suggestion(word, names) + ": the commands" + of + " are " + all;
}

/// "unknown option '--X'" for the first of the arguments after the command's name that is one, else nothing.
/// @param first  argument after the name
std::string unknown_option(const CLI::App& command, int first, int argc, const char* const* argv) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  for (int i = first; i < argc; ++i) {
    const std::string word = argv[i], name = word.substr(0, word.find('='));
    if (word == "--") break;
    if (name.starts_with("--") && !command.get_option_no_throw(name))
      return "unknown option '" + name + "'" + suggestion(name, names);
  }
  return "";
}

const CLI::App* command_named(const CLI::App& app, const std::string& word) {
  for (const CLI::App* each : app.get_subcommands({}))
    if (each->get_name() == word) return each;
  return nullptr;
}

/// The problem with the arguments, and the remedy, in one line.
std::string problem_of(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  std::string word = argc > 1 ? argv[1] : "";
  int first = 2;
  const CLI::App* command = command_named(app, word);
  if (!command && !word.starts_with('-')) return unknown_command(app, word);
  if (command && !command->get_subcommands({}).empty()) {
    const std::string inner = argc > 2 ? argv[2] : "";
    const CLI::App* const named = command_named(*command, inner);
    if (!named && !inner.starts_with('-')) return unknown_command(*command, inner, word);
    if (named) command = named, word += " " + inner, first = 3;
  }
  std::string text = unknown_option(command ? *command : app, command ? first : 1, argc, argv);
  if (text.empty()) text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text + ": see 'effort " + (command ? word + " " : "") + "--help'";
}

int run(int argc, const char* const* argv) {
  CLI::App app{"Shows the snapshots and traces of runs, and runs the library's algorithms on files.", "effort"};
  app.set_version_flag("--version", EFFORT_VERSION_TEXT);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 success, 1 bad data, 2 bad arguments, 3 a check that does not hold.\n"
      "'effort COMMAND --help' lists the options of a command.");
  add_commands(app);
  forget_inputs();
  app.parse_complete_callback([&app] { check_outputs(app); });  // before the command runs
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // help, version
    return complain(problem_of(app, e, argc, argv), usage_error);
  }
  return 0;
}

}  // namespace

int run_command(int argc, const char* const* argv) {
  try {
    const int code = run(argc, argv);
    // A full disk or a closed pipe is detected here at the latest.
    if (std::fflush(stdout) != 0 || std::ferror(stdout)) return complain("cannot write to standard output", data_error);
    return code;
  } catch (const CheckFailed&) {
    return std::fflush(stdout) == 0 ? check_failed : complain("cannot write to standard output", data_error);
  } catch (const UsageError& e) {
    return complain(e.what(), usage_error);
  } catch (const std::bad_alloc&) {
    return complain("not enough memory", data_error);
  } catch (const std::exception& e) {
    return complain(e.what(), data_error);
  }
}

}  // namespace effort::tools
