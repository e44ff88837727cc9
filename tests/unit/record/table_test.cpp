// Compares the tables of analytics/window/report.hpp with their copies in other languages.
#include "analytics/window/report.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

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

/// The names in a text of other characters.
std::vector<std::string> names(const std::string& text) {
  std::vector<std::string> out;
  const std::regex name("[A-Za-z_]+");
  for (std::sregex_iterator i(text.begin(), text.end(), name), last; i != last; ++i) out.push_back(i->str());
  return out;
}

/// The matches of the first group of `declaration`, one after the other.
std::string all(const std::string& text, const std::string& declaration) {
  std::string out;
  const std::regex pattern(declaration);
  for (std::sregex_iterator i(text.begin(), text.end(), pattern), last; i != last; ++i) out += (*i)[1].str() + " ";
  return out;
}

/// The values of the names that `definition` matches.
std::map<std::string, unsigned> values(const std::string& text, const std::string& definition) {
  std::map<std::string, unsigned> out;
  const std::regex pattern(definition);
  for (std::sregex_iterator i(text.begin(), text.end(), pattern), last; i != last; ++i)
    out[(*i)[1].str()] = static_cast<unsigned>(std::stoul((*i)[2].str()));
  return out;
}

std::string c_hint() {
  return part(source("capi/include/effort/effort.h"), "typedef struct effort_hint {", "} effort_hint;");
}

std::string fortran_hint() {
  return part(source("capi/fortran/effort_types.f90"), "type, public, bind(C) :: effort_hint\n", "end type");
}

#define EFFORT_NUMBER(name, unknown, unit, meaning) #name,
const std::set<std::string> hint_numbers = {EFFORT_HINT_NUMBERS(EFFORT_NUMBER)};
const std::set<std::string> window_numbers = {EFFORT_WINDOW_NUMBERS(EFFORT_NUMBER)};
#undef EFFORT_NUMBER
#define EFFORT_ARRAY(name, type, extent) #name,
const std::set<std::string> hint_arrays = {EFFORT_HINT_ARRAYS(EFFORT_ARRAY)};
#undef EFFORT_ARRAY

/// The hint has one number more, which follows from the imbalance.
std::set<std::string> with_the_hints_own(std::set<std::string> names) {
  names.insert("load_balance");
  return names;
}

}  // namespace

TEST_CASE("effort_hint has the table's numbers and no others", "[record]") {
  const std::vector<std::string> numbers = names(all(c_hint(), "\n  double ([^;*]+);"));
  CHECK(std::set<std::string>(numbers.begin(), numbers.end()) == with_the_hints_own(hint_numbers));
}

TEST_CASE("effort_hint has the table's arrays and no others", "[record]") {
  const std::vector<std::string> arrays = names(all(c_hint(), "\n  const (?:double|int32_t)\\* ([^;]+);"));
  CHECK(std::set<std::string>(arrays.begin(), arrays.end()) == hint_arrays);
}

TEST_CASE("Fortran's effort_hint has the fields of C's in their order", "[record]") {
  const std::string c = c_hint(), fortran = fortran_hint();
  CHECK(names(all(fortran, R"(\n    \w+\(\w+\) :: ([a-z_, ]+))")) ==
        names(all(c, R"(\n  (?:const )?\w+[* ]+(?:const\* )?([^;]+);)")));
  CHECK(names(all(fortran, R"(real\(c_double\) :: ([a-z_, ]+))")) == names(all(c, "\n  double ([^;*]+);")));
}

TEST_CASE("C, Fortran and the guide have the table's reasons for a hint", "[record]") {
#define EFFORT_BIT(name, c_name, bit) {#c_name, 1u << (bit)},
  const std::map<std::string, unsigned> bits = {EFFORT_ADVICE_BITS(EFFORT_BIT)};
#undef EFFORT_BIT
  CHECK(values(source("capi/include/effort/effort.h"), "EFFORT_ADVICE_([A-Z_]+) = ([0-9]+)") == bits);
  CHECK(values(source("capi/fortran/effort_types.f90"), "EFFORT_ADVICE_([A-Z_]+) = ([0-9]+)") == bits);
  const std::string guide = source("docs/hints.md");
  for (const auto& [name, bit] : bits) {
    INFO(name);
    CHECK(guide.find("`" + name + "`") != std::string::npos);
  }
}

TEST_CASE("the page reads no number that the table lacks", "[record]") {
  const std::string model = source("viewer/src/model.ts");
  const auto shown = names(all(part(model, "type WindowNumber =", ";"), "\"([a-z_]+)\""));
  CHECK(shown.size() > 1);
  for (const std::string& name : shown) {
    INFO(name);
    CHECK(window_numbers.count(name) == 1);
  }
}
