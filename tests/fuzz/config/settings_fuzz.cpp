// Gives untrusted settings to the library, which must take or refuse them, with a message that is safe to print.
//
// The first byte chooses what the rest is: the content of a configuration file, the value of a setting (the key is
// chosen by the second byte), or a list of processing units.
#include "record/text.hpp"
#include "runtime/config/settings.hpp"
#include "runtime/engine/placement.hpp"
#include "runtime/status.hpp"

#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace {

using namespace effort;

void require(bool holds) {
  if (!holds) std::abort();
}

void require_clean(const Error& error) {
  require(error.status() == Status::config && record::visible(error.what()) == error.what());
}

/// The names of all settings, which the refusal of an unknown one lists.
std::vector<std::string> names() {
  std::vector<std::string> out;
  try {
    config::check("?", "");
  } catch (const Error& error) {
    const std::string text = error.what();
    std::istringstream list(text.substr(text.find("the keys are ") + 13));
    for (std::string name; std::getline(list >> std::ws, name, ',');) out.push_back(name);
  }
  require(out.size() > 20);
  return out;
}

/// Settings that rank 0 sends to the others must mean the same there.
void send_to_other_ranks(const config::Settings& settings) {
  const std::string text = config::to_text(settings);
  config::Settings there;
  config::apply_text(there, text);
  require(config::to_text(there) == text);
}

void resolve(const std::vector<config::Pair>& given) {
  try {
    send_to_other_ranks(config::resolve(given));
  } catch (const Error& error) {
    require_clean(error);
  }
}

/// A file in memory, which is read as EFFORT_CONFIG.
void read_file(std::string_view content) {
  const int file = memfd_create("settings", 0);
  require(file >= 0 && write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
  setenv("EFFORT_CONFIG", ("/proc/self/fd/" + std::to_string(file)).c_str(), 1);
  resolve({});
  unsetenv("EFFORT_CONFIG");
  close(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::string> keys = names();
  if (size < 2) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
    case 1: read_file(rest); break;
    case 2: resolve({{keys[data[1] % keys.size()], std::string(rest.substr(1))}}); break;
    default:
      if (const auto units = engine::units_of(rest)) require(CPU_COUNT(&*units) > 0);
  }
  return 0;
}
