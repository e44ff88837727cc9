// Compares the table of analytics/window/report.hpp with its copies in other languages.
#include "analytics/window/report.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

std::string source(const std::string& path) {
  std::ifstream in(EFFORT_SOURCE_DIRECTORY "/" + path);
  REQUIRE(in);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// From the first `begin` to the next `end`.
std::string part(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t first = text.find(begin);
  REQUIRE(first != std::string::npos);
  return text.substr(first, text.find(end, first) - first);
}

/// Names of the scalars of a type, whose declarations are `type NAME, NAME` up to the end of a line or a semicolon.
std::set<std::string> scalars(const std::string& text, const std::string& type) {
  std::set<std::string> names;
  const std::regex declaration(type + "([A-Za-z_, ]+)"), name("[A-Za-z_]+");
  for (std::sregex_iterator i(text.begin(), text.end(), declaration), last; i != last; ++i) {
    const std::string list = (*i)[1];
    for (std::sregex_iterator n(list.begin(), list.end(), name); n != last; ++n) names.insert(n->str());
  }
  return names;
}

#define EFFORT_NUMBER(name, unknown) #name,
const std::set<std::string> hint_numbers = {EFFORT_HINT_NUMBERS(EFFORT_NUMBER)};
const std::set<std::string> window_numbers = {EFFORT_WINDOW_NUMBERS(EFFORT_NUMBER)};
#undef EFFORT_NUMBER

/// Numbers only of the hint: one follows from the imbalance, one is not known yet.
std::set<std::string> with_the_hints_own(std::set<std::string> names) {
  names.insert({"load_balance", "transfer_efficiency"});
  return names;
}

}  // namespace

TEST_CASE("effort_hint has the table's numbers and no others", "[record]") {
  const std::string hint =
      part(source("capi/include/effort/effort.h"), "typedef struct effort_hint {", "} effort_hint;");
  CHECK(scalars(hint, "\n  double ") == with_the_hints_own(hint_numbers));
}

TEST_CASE("Fortran's effort_hint has the table's numbers and no others", "[record]") {
  const std::string hint = part(source("capi/fortran/effort.F90"), "type, public, bind(C) :: effort_hint", "end type");
  CHECK(scalars(hint, "real\\(c_double\\) :: ") == with_the_hints_own(hint_numbers));
}

TEST_CASE("the page's Window has the table's numbers", "[record]") {
  const std::string window = part(source("viewer/src/model.ts"), "export interface Window {", "\n}");
  for (const std::string& name : window_numbers) {
    INFO(name);
    CHECK(window.find("\n  " + name + ": number") != std::string::npos);
  }
}
