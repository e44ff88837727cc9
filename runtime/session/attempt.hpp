// The local part of a collective action.
#pragma once

#include "runtime/status.hpp"

#include <cstdio>
#include <exception>
#include <new>

namespace effort::session {

/// Runs a local part of set-up and keeps its failure, so that this rank still takes part in the next collective.
class Attempt {
 public:
  template <typename Body>
  bool operator()(const Body& body) noexcept {
    try {
      body();
      return true;
    } catch (const Error& e) {
      keep(e.status(), e.what());
    } catch (const std::bad_alloc&) {
      keep(Status::memory, "out of memory");
    } catch (const std::exception& e) {
      keep(Status::internal, e.what());
    }
    return false;
  }
  bool good() const { return status_ == Status::ok; }
  Status status() const { return status_; }  ///< of the last failure; ok if there was none
  const char* why() const { return why_; }   ///< of the last failure

 private:
  void keep(Status status, const char* why) {
    status_ = status;
    std::snprintf(why_, sizeof why_, "%s", why);
  }

  Status status_ = Status::ok;
  char why_[300] = "";
};

}  // namespace effort::session
