#include "command.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace effort::tools::test {

namespace fs = std::filesystem;

namespace {
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}
}  // namespace

Scratch::Scratch() {
  std::string pattern = (fs::temp_directory_path() / "effort-tools-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = pattern;
}

Scratch::~Scratch() { fs::remove_all(path_); }

Outcome Scratch::run_program(const std::string& program, const std::vector<std::string>& arguments,
                             const std::string& environment) const {
  // A command that hangs must not hang the tests.
  std::string line = "cd " + quoted(path_.string()) + " && " + environment + " timeout 60 " + quoted(program);
  for (const std::string& a : arguments) line += " " + quoted(a);
  line += " >.out 2>.err </dev/null";
  const int status = std::system(line.c_str());
  Outcome outcome;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  outcome.out = read_text(".out");
  outcome.err = read_text(".err");
  return outcome;
}

Outcome Scratch::run_python(const std::string& script, std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), script);
  const Outcome system = run_program("/usr/bin/python3", arguments);
  return system.code == 77 || system.code == 127 ? run_program("python3", arguments) : system;
}

Outcome Scratch::run_on_terminal(const std::vector<std::string>& arguments, int width, int height,
                                 const std::string& environment) const {
  std::string line = "stty cols " + std::to_string(width) + " rows " + std::to_string(height) + "; " + environment +
                     " " + quoted(EFFORT_COMMAND);
  for (const std::string& a : arguments) line += " " + quoted(a);
  return run_program("script", {"-qec", line, "/dev/null"});
}

void Scratch::write(const std::string& name, const std::vector<double>& values) const {
  std::ofstream(path_ / name, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(8 * values.size()));
}

void Scratch::write(const std::string& name, const std::vector<std::byte>& bytes) const {
  std::ofstream(path_ / name, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void Scratch::write_text(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
}

std::string Scratch::read_text(const std::string& name) const {
  std::ifstream file(path_ / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<double> Scratch::read(const std::string& name) const {
  const std::string text = read_text(name);
  std::vector<double> values(text.size() / 8);
  std::memcpy(values.data(), text.data(), 8 * values.size());
  return values;
}

std::vector<int> Scratch::read_lines(const std::string& name) const {
  std::istringstream in(read_text(name));
  return {std::istream_iterator<int>(in), std::istream_iterator<int>()};
}

}  // namespace effort::tools::test
