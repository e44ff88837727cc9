// Text in CSV files.
#pragma once

#include <string>

namespace effort::tools {

/// A name as a field: quoted according to RFC 4180 if it contains a comma or a quote.  A spreadsheet would take a name
/// that begins with = + - @, or a full-width form of these, for a formula.  Such a name gets an apostrophe before it,
/// which makes it text.
std::string csv_field(const std::string& name);

}  // namespace effort::tools
