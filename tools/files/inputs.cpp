#include "tools/files/inputs.hpp"

#include <sys/stat.h>

#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "tools/output/usage_error.hpp"

namespace effort::tools {

namespace fs = std::filesystem;

namespace {

/// Device and inode, which all names of a file have in common.
using Identity = std::pair<dev_t, ino_t>;

std::optional<Identity> identity_of(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return Identity{info.st_dev, info.st_ino};
}

std::map<Identity, fs::path>& inputs() {
  static std::map<Identity, fs::path> all;
  return all;
}

}  // namespace

bool same_file(const fs::path& a, const fs::path& b) {
  const auto identity_a = identity_of(a), identity_b = identity_of(b);
  if (identity_a || identity_b) return identity_a == identity_b;
  std::error_code ignored;
  const auto whole = [&](const fs::path& path) { return fs::weakly_canonical(fs::absolute(path, ignored), ignored); };
  return whole(a) == whole(b);
}

void count_as_input(const fs::path& path) {
  if (const auto identity = identity_of(path)) inputs().emplace(*identity, path);
}

void forget_inputs() { inputs().clear(); }

void refuse_input(const fs::path& output) {
  const auto identity = identity_of(output);
  const auto input = identity ? inputs().find(*identity) : inputs().end();
  if (input != inputs().end())
    throw UsageError("the output '" + output.string() + "' would replace the input '" + input->second.string() +
                     "', which is the same file: give another name");
}

}  // namespace effort::tools
