#include "runtime/config/settings_file.hpp"

#include "analytics/number_text.hpp"
#include "runtime/status.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

namespace effort::config {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 20;

[[noreturn]] void refuse(const std::string& path, const std::string& problem) {
  throw Error(Status::config,
              "configuration file '" + path + "'" + problem + "; correct the file or unset EFFORT_CONFIG");
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

std::string content_of(const std::string& path) {
  // Opening a pipe without O_NONBLOCK would wait for its other end.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (file.number() < 0) refuse(path, std::string(" cannot be opened (") + std::strerror(errno) + ")");
  struct stat status {};
  if (fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) refuse(path, " is not a regular file");
  std::string content(most_bytes + 1, '\0');
  std::size_t length = 0;
  while (length < content.size()) {
    const ssize_t count = read(file.number(), content.data() + length, content.size() - length);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse(path, std::string(" cannot be read (") + std::strerror(errno) + ")");
    if (count == 0) break;
    length += static_cast<std::size_t>(count);
  }
  if (length > most_bytes) refuse(path, " is larger than 1 MiB");
  content.resize(length);
  return content;
}

std::string text_of(const toml::node& node) {
  if (auto v = node.value_exact<std::string>()) return *v;
  if (auto v = node.value_exact<bool>()) return *v ? "1" : "0";
  if (auto v = node.value_exact<std::int64_t>()) return std::to_string(*v);
  if (auto v = node.value_exact<double>()) return number_text(*v);
  if (const auto* list = node.as_array()) {
    std::string out;
    for (const auto& item : *list) out += (out.empty() ? "" : ",") + text_of(item);
    return out;
  }
  return "?";
}

}  // namespace

std::string upper_case(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::vector<FileSetting> read_settings_file(const std::string& path) {
  const std::string content = content_of(path);
  toml::table table;
  try {
    table = toml::parse(std::string_view(content), path);
  } catch (const toml::parse_error& e) {
    refuse(path, ", line " + std::to_string(e.source().begin.line) + ", column " +
                     std::to_string(e.source().begin.column) + ": " + std::string(e.description()));
  }
  std::vector<FileSetting> settings;
  for (const auto& [key, node] : table)
    settings.push_back({upper_case(std::string(key.str())), text_of(node), static_cast<int>(key.source().begin.line)});
  std::sort(settings.begin(), settings.end(),
            [](const FileSetting& a, const FileSetting& b) { return a.line < b.line; });
  for (auto later = settings.begin(); later != settings.end(); ++later) {
    const auto first = std::find_if(settings.begin(), later, [&](const FileSetting& s) { return s.key == later->key; });
    if (first != later)
      refuse(path, ", line " + std::to_string(later->line) + ": setting " + later->key + " was given in line " +
                       std::to_string(first->line) + " already");
  }
  return settings;
}

}  // namespace effort::config
