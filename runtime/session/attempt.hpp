// The local part of a collective action.
#pragma once

#include <cstdio>
#include <exception>

namespace effort::session {

/// Runs a local part of set-up and keeps its failure, so that this rank still takes part in the next collective.
class Attempt {
 public:
  template <typename Body>
  bool operator()(const Body& body) noexcept {
    try {
      body();
      return true;
    } catch (const std::exception& e) {
      good_ = false;
      std::snprintf(why_, sizeof why_, "%s", e.what());
      return false;
    }
  }
  bool good() const { return good_; }
  const char* why() const { return why_; }  ///< of the last failure

 private:
  bool good_ = true;
  char why_[300] = "";
};

}  // namespace effort::session
