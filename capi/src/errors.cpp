#include "errors.hpp"

#include "record/text.hpp"
#include "runtime/thread_end.hpp"

namespace effort::capi {
namespace {

EFFORT_IN_EVERY_THREAD thread_local const char* last_literal = "";
EFFORT_IN_EVERY_THREAD thread_local std::string* last_text = nullptr;  // freed with its thread

void free_text(void*) {
  delete last_text;
  last_text = nullptr;
  last_literal = "";
}

void keep(const char* message) noexcept {
  static const ThreadEnd end(free_text);
  try {
    if (!last_text) {
      if (!end.ask()) throw std::bad_alloc();
      last_text = new std::string;
    }
    // Build a copy first, because the message may be the one already stored.  Names and values in it may come from
    // anywhere, and hosts print messages to terminals.
    std::string text = record::visible(message);
    last_text->swap(text);
    last_literal = "";
  } catch (const std::exception&) {
    if (last_text) last_text->clear();
    last_literal = "out of memory while keeping an error message";
  }
}

}  // namespace

effort_status fail(Status status, const char* literal) noexcept {
  if (last_text) last_text->clear();
  last_literal = literal;
  return static_cast<effort_status>(status);
}

effort_status fail(Status status, const std::string& message) noexcept {
  keep(message.c_str());
  return static_cast<effort_status>(status);
}

}  // namespace effort::capi

extern "C" {

effort_status effort_fail(effort_status status, const char* message) {
  effort::capi::keep(message);
  return status;
}

const char* effort_last_error(void) {
  using namespace effort::capi;
  return last_text && !last_text->empty() ? last_text->c_str() : last_literal;
}

const char* effort_status_string(effort_status s) {
  switch (s) {
    case EFFORT_OK: return "no error";
    case EFFORT_ERR_INVALID_ARGUMENT: return "invalid argument";
    case EFFORT_ERR_NOT_INITIALIZED: return "the library is not initialized";
    case EFFORT_ERR_ALREADY_INITIALIZED: return "the library is initialized already";
    case EFFORT_ERR_UNKNOWN_ID: return "unknown id";
    case EFFORT_ERR_NESTING: return "regions are not properly nested";
    case EFFORT_ERR_LIMIT: return "a limit is exceeded";
    case EFFORT_ERR_CONFLICT: return "conflicting registration";
    case EFFORT_ERR_CONFIG: return "bad configuration";
    case EFFORT_ERR_MPI: return "MPI error";
    case EFFORT_ERR_MEMORY: return "out of memory";
    case EFFORT_ERR_IO: return "input or output failed";
    case EFFORT_ERR_UNSUPPORTED: return "not supported by this build";
    case EFFORT_ERR_CALLBACK: return "not allowed from within a callback";
    case EFFORT_ERR_INTERNAL: return "internal error";
    case EFFORT_ERR_SWITCHED_OFF: return "the library has switched itself off";
    case EFFORT_ERR_STATE: return "not allowed at this time";
    case EFFORT_ERR_NO_HINT: return "no hint yet";
  }
  return "unknown status";
}

}  // extern "C"
