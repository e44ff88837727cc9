// effort: shows snapshots, and runs the library's algorithms on files.
#include <cstdio>
#include <exception>
#include <new>

#include "tools/commands.hpp"

namespace {

constexpr int data_error = 1;
constexpr int usage_error = 2;

int complain(const char* message, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "effort: %s\n", message);
  return code;
}

int run(int argc, char** argv) {
  CLI::App app{"Shows the snapshots of runs, and runs the library's algorithms on files.", "effort"};
  app.set_version_flag("--version", EFFORT_VERSION_TEXT);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 success, 1 bad data, 2 bad arguments.\n'effort COMMAND --help' lists the options of a command.");
  effort::tools::add_info(app);
  effort::tools::add_report(app);
  effort::tools::add_top(app);
  effort::tools::add_diff(app);
  effort::tools::add_export(app);
  effort::tools::add_encode(app);
  effort::tools::add_decode(app);
  effort::tools::add_cluster(app);
  effort::tools::add_sample_size(app);
  effort::tools::add_replay(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : usage_error;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int code = run(argc, argv);
    // A full disk or a closed pipe is detected here at the latest.
    if (std::fflush(stdout) != 0 || std::ferror(stdout)) return complain("cannot write to standard output", data_error);
    return code;
  } catch (const effort::tools::UsageError& e) {
    return complain(e.what(), usage_error);
  } catch (const std::bad_alloc&) {
    return complain("not enough memory", data_error);
  } catch (const std::exception& e) {
    return complain(e.what(), data_error);
  }
}
