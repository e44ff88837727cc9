// Replaces the page in a build without Node.js.
#include "tools/report/report_page.hpp"

namespace effort::tools {

PageTemplate page_template() { return {}; }

}  // namespace effort::tools
