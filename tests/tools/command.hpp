// Runs the `effort` command as a user would.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace effort::tools::test {

/// The result of a run of the command.
struct Outcome {
  int code = -1;  ///< exit status; -1: ended by a signal
  std::string out, err;
  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// A directory for one test, removed afterwards. Commands run in it.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  Outcome run(const std::vector<std::string>& arguments) const { return run_program(EFFORT_COMMAND, arguments); }
  /// Runs another program in the same directory; code 127 if it does not exist.
  Outcome run_program(const std::string& program, const std::vector<std::string>& arguments,
                      const std::string& environment = "") const;
  /// Runs a Python script, with the system's Python if that one has numpy and the first in the path has not.
  Outcome run_python(const std::string& script, std::vector<std::string> arguments) const;
  /// Runs the command on a terminal of this size; `out` also contains standard error.  `environment`: "A=b C=d".
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
