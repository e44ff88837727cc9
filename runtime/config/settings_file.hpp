// The configuration file as a list of settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace effort::config {

struct FileSetting {
  std::string key;  ///< in upper case
  std::string value;
  int line = 0;  ///< from 1
  /// Its position.  A table such as [[trace_group]] is a sequence of lines with values "key=value"; an empty first and
  /// last line mark its beginning and end.
  enum class Place { top, first_in_table, in_table, last_in_table } place = Place::top;
};

/// Reads a TOML file.  Numbers, booleans and lists become the text that an environment variable would hold.
/// @throws Error(config) if it cannot be read, is not a regular file, is larger than 1 MiB, is not TOML, or holds a key
///         twice (ignoring case); the message names the file and, if known, the line
std::vector<FileSetting> read_settings_file(const std::string& path);

/// As read_settings_file, for the text of a file that has already been read.
std::vector<FileSetting> settings_in(std::string_view content, const std::string& path);

/// Refuses a report that would replace the configuration file.  @throws Error(config)
void refuse_as_report(const std::string& path, const std::string& report);

/// Replaces a to z by A to Z, independently of the host's locale: in a Turkish locale, i has another capital.
std::string upper_case(std::string text);

}  // namespace effort::config
