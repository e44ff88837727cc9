#include "tools/command_line.hpp"

#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "tools/commands.hpp"
#include "tools/output.hpp"

namespace effort::tools {

namespace {

constexpr int data_error = 1;
constexpr int usage_error = 2;

int complain(const std::string& message, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "effort: %s\n", message.c_str());
  return code;
}

int run(int argc, const char* const* argv) {
  CLI::App app{"Shows the snapshots of runs, and runs the library's algorithms on files.", "effort"};
  app.set_version_flag("--version", EFFORT_VERSION_TEXT);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 success, 1 bad data, 2 bad arguments.\n'effort COMMAND --help' lists the options of a command.");
  add_info(app);
  add_report(app);
  add_top(app);
  add_diff(app);
  add_export(app);
  add_encode(app);
  add_decode(app);
  add_cluster(app);
  add_sample_size(app);
  add_replay(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : usage_error;
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
