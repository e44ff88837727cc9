#include "tools/trace/otf2/library.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <stdexcept>

namespace effort::tools::otf2 {

namespace {

std::string& message() {
  static std::string text;
  return text;
}

OTF2_ErrorCode keep(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char* format,
                    va_list arguments) {
  if (message().empty()) {
    std::array<char, 512> buffer{};
    if (format != nullptr) std::vsnprintf(buffer.data(), buffer.size(), format, arguments);
    message() = buffer.data();
  }
  return code;
}

}  // namespace

Messages::Messages() : before_(OTF2_Error_RegisterCallback(keep, nullptr)) { message().clear(); }
Messages::~Messages() { OTF2_Error_RegisterCallback(before_, nullptr); }

std::string Messages::take() {
  std::string text;
  text.swap(message());
  while (!text.empty() && (text.back() == '\n' || text.back() == '.')) text.pop_back();
  return text;
}

void fail(OTF2_ErrorCode code, Messages& messages, const std::string& file, const char* what) {
  std::string text = "cannot " + std::string(what) + " '" + file + "'";
  const std::string reason = messages.take();
  if (code != OTF2_SUCCESS) text += ": " + std::string(OTF2_Error_GetDescription(code));
  if (!reason.empty()) text += (code == OTF2_SUCCESS ? ": " : " (") + reason + (code == OTF2_SUCCESS ? "" : ")");
  throw std::runtime_error(text);
}

void check(OTF2_ErrorCode code, Messages& messages, const std::string& file, const char* what) {
  if (code != OTF2_SUCCESS) fail(code, messages, file, what);
}

}  // namespace effort::tools::otf2
