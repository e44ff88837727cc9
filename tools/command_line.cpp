#include "tools/command_line.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "record/text.hpp"
#include "tools/commands/options.hpp"
#include "tools/commands/usage_error.hpp"
#include "tools/output/output.hpp"

namespace effort::tools {

namespace {

constexpr int data_error = 1;
constexpr int usage_error = 2;

int complain(const std::string& message, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "effort: %s\n", record::visible(message).c_str());
  return code;
}

/// "there is no command 'X'", with the existing commands and the one probably meant.
std::string unknown_command(const CLI::App& app, const std::string& word) {
  std::string all, nearest;
  for (const CLI::App* command : app.get_subcommands({})) {
    const std::string& name = command->get_name();
    all += (all.empty() ? "" : ", ") + name;
    if (nearest.empty() || record::distance(word, name) < record::distance(word, nearest)) nearest = name;
  }
  if (word.empty()) return "no command is given: the commands are " + all;
  const bool alike = record::distance(word, nearest) <= std::max<std::size_t>(2, word.size() / 3);
  return "there is no command '" + word + "'" + (alike ? " (did you mean '" + nearest + "'?)" : "") +
         ": the commands are " + all;
}

/// The problem with the arguments, and the remedy, in one line.
std::string problem_of(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  const auto all = app.get_subcommands({});
  const bool known =
      std::any_of(all.begin(), all.end(), [&](const CLI::App* command) { return command->get_name() == word; });
  if (!known && !word.starts_with('-')) return unknown_command(app, word);
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text + ": see 'effort " + (known ? word + " " : "") + "--help'";
}

int run(int argc, const char* const* argv) {
  CLI::App app{"Shows the snapshots of runs, and runs the library's algorithms on files.", "effort"};
  app.set_version_flag("--version", EFFORT_VERSION_TEXT);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 success, 1 bad data, 2 bad arguments.\n'effort COMMAND --help' lists the options of a command.");
  add_commands(app);
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
  } catch (const UsageError& e) {
    return complain(e.what(), usage_error);
  } catch (const std::bad_alloc&) {
    return complain("not enough memory", data_error);
  } catch (const std::exception& e) {
    return complain(e.what(), data_error);
  }
}

}  // namespace effort::tools
