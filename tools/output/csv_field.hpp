// Text in CSV files.
#pragma once

#include <string>

namespace effort::tools {

/// A name as a field: quoted according to RFC 4180 if it contains a comma or a quote.  A spreadsheet would take one
/// that begins with = + - @, or a full-width form of these, for a formula; an apostrophe before it makes it text.
std::string csv_field(const std::string& name);

}  // namespace effort::tools
