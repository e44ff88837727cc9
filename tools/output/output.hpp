// The output of the commands: tables and units for people, one JSON object for programs.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace effort::tools {

/// An object as text; control characters and invalid UTF-8 within strings are escaped.
std::string json_text(const nlohmann::ordered_json& object, int indent = -1);

/// Prints one object on one line of standard output; text that is not valid UTF-8 is repaired.
void print_json(const nlohmann::ordered_json& object);

/// The text with replacement characters in place of invalid UTF-8.
std::string valid_utf8(const std::string& text);

/// A number, or null if it is negative (not known) or NaN.
nlohmann::ordered_json known(double value);

/// "12.3 ms"; "-" if negative.
std::string seconds_text(double seconds);
std::string nanoseconds_text(double ns);
/// "1.5 KiB".
std::string bytes_text(double bytes);
/// "12.3 %"; "-" if negative.
std::string percent_text(double share);
/// Four significant digits in the metric's unit: seconds by seconds_text, else "1234 unit".
std::string amount_text(double value, const std::string& unit);
/// A name on one line, see record::visible; at most `width` columns, the middle left out.
std::string name_text(const std::string& name, std::size_t width = 40);
/// The same for the rows of a table: names that differ are shown differently, by the part in which they differ.
std::vector<std::string> name_texts(const std::vector<std::string>& names, std::size_t width);
/// Appends " #2", " #3", ... to texts that are equal, such as those of calls from places whose lines are not known.
void number_equal(std::vector<std::string>& texts);

/// Rows of a long table that are printed without --all.
constexpr std::size_t rows_shown = 10;
/// ", the first 10 of 32 (--all shows the rest)"; empty if all are shown.
std::string rows_left_out(std::size_t shown, std::size_t all);

/// Columns aligned under their titles: the first to the left, the others to the right unless stated.
class Table {
 public:
  enum class Align { left, right };
  struct Heading {
    std::string title;
    Align align = Align::right;
  };
  explicit Table(std::vector<Heading> headings);
  void add(std::vector<std::string> cells);
  /// The lines, indented by two.
  std::string text() const;

 private:
  std::vector<Heading> headings_;
  std::vector<std::vector<std::string>> rows_;
};

/// Wall time since construction, seconds.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace effort::tools
