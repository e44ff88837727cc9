// Runs the `effort` command as a user does.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace effort::tools::test {

/// What a run of the command left behind.
struct Outcome {
  int code = -1;  ///< exit status; -1: ended by a signal
  std::string out, err;
  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// A directory of its own per test, gone afterwards; commands run in it.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  Outcome run(const std::vector<std::string>& arguments) const { return run_program(EFFORT_COMMAND, arguments); }
  /// Another program in the same directory; code 127 where there is none.
  Outcome run_program(const std::string& program, const std::vector<std::string>& arguments,
                      const std::string& environment = "") const;
  /// A Python script, with the machine's own Python where that has numpy and not the first in the path.
  Outcome run_python(const std::string& script, std::vector<std::string> arguments) const;
  /// The command on a terminal of this size; standard error is in `out` too.  `environment`: "A=b C=d".
  Outcome run_on_terminal(const std::vector<std::string>& arguments, int width, int height,
                          const std::string& environment) const;
  void write(const std::string& name, const std::vector<double>& values) const;
  void write(const std::string& name, const std::vector<std::byte>& bytes) const;
  void write_text(const std::string& name, const std::string& text) const;
  std::vector<double> read(const std::string& name) const;
  std::string read_text(const std::string& name) const;
  std::vector<int> read_lines(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

}  // namespace effort::tools::test
