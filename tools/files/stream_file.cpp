#include "tools/files/stream_file.hpp"

#include <stdexcept>
#include <string>
#include <system_error>

namespace effort::tools {

std::span<const std::byte> StreamFile::view(std::size_t offset, std::size_t count,
                                            std::vector<std::byte>& storage) const {
  try {
    storage = file_->read(offset, count);
  } catch (const std::system_error&) {  // which names the file
    throw;
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(std::string(e.what()) + " (file '" + path_.string() + "', within " +
                             std::to_string(count) + " bytes from byte " + std::to_string(offset) +
                             " on): wait until it is complete");
  }
  return storage;
}

}  // namespace effort::tools
