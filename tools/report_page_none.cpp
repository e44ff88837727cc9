// Stands in for the page where Node.js was missing at build time.
#include "tools/report_page.hpp"

namespace effort::tools {

PageTemplate page_template() { return {}; }

}  // namespace effort::tools
