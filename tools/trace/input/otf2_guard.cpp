#include "tools/trace/input/otf2_guard.hpp"

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "tools/files/trial.hpp"
#include "tools/trace/input/otf2_definitions.hpp"
#include "tools/trace/otf2/library.hpp"

namespace effort::tools::otf2 {

namespace {

namespace fs = std::filesystem;

/// Bytes of the anchor file and the definitions beside it.
std::uint64_t size_of(const std::string& anchor) {
  std::error_code error;
  std::uint64_t bytes = fs::file_size(anchor, error);
  if (error) return 0;
  const std::uint64_t definitions = fs::file_size(fs::path(anchor).replace_extension(".def"), error);
  return error ? bytes : bytes + definitions;
}

Reader open_untried(const std::string& anchor, Messages& messages) {
  Reader reader(OTF2_Reader_Open(anchor.c_str()), OTF2_Reader_Close);
  if (!reader) {
    const std::string reason = messages.take();
    if (reason.find("version conflicts") != std::string::npos)
      throw std::runtime_error("the OTF2 archive '" + anchor +
                               "' has another format version than effort's OTF2 library reads (" + OTF2_VERSION +
                               "): build effort with the library that wrote the archive, or a newer one");
    throw std::runtime_error("cannot open the OTF2 archive '" + anchor + "': " + reason +
                             " (give the .otf2 file of an archive that was written to its end)");
  }
  check(OTF2_Reader_SetSerialCollectiveCallbacks(reader.get()), messages, anchor, "read the OTF2 archive");
  return reader;
}

}  // namespace

Reader open_archive(const std::string& anchor, Messages& messages) {
  // Reading 100 MB takes well under a second.
  const std::uint64_t seconds = 4 + size_of(anchor) / 10'000'000;
  const Trial trial = try_in_child(anchor, seconds, [&] {
    const Reader reader = open_untried(anchor, messages);
    read_definitions(reader.get(), messages, anchor);
  });
  if (trial == Trial::returned) return open_untried(anchor, messages);
  throw std::runtime_error("the OTF2 archive '" + anchor + "' is damaged: the OTF2 library " +
                           (trial == Trial::looped ? "does not return" : "crashes") +
                           " reading its definitions; write the archive again or restore a copy");
}

}  // namespace effort::tools::otf2
