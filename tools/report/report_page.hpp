// The page that `effort report` fills with data; built from viewer/ and compiled in.
#pragma once

#include <string_view>

namespace effort::tools {

/// The page: everything before the data, and everything after it.
struct PageTemplate {
  std::string_view before, behind;
};

/// Both parts are empty if effort was built without Node.js.
PageTemplate page_template();

}  // namespace effort::tools
