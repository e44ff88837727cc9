// effort comm waits TRACE
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

#include "tools/commands/commands.hpp"
#include "tools/commands/named_trace.hpp"
#include "tools/communication/record.hpp"
#include "tools/communication/waits_output.hpp"
#include "tools/output/output.hpp"
#include "tools/output/terminal.hpp"
#include "tools/trace/analysis/messages.hpp"
#include "tools/view/info_text.hpp"

namespace effort::tools {

namespace {

/// The trace itself is given up, because a record of many events needs the memory.
CommunicationTrace read_communication(const CommArguments& a) {
  const Trace trace = read_named_trace(a.input, a.raw_names, a.module_paths);
  return communication_of(trace, match_messages(trace));
}

void print(const std::string& text) {
  const std::string shown = fitted(text, terminal_of(STDOUT_FILENO));
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}

}  // namespace

void run_comm_waits(const CommArguments& a) {
  const WaitFindings findings(read_communication(a));
  a.json ? print_json(waits_json(findings)) : print(waits_text(findings, a.all));
}

}  // namespace effort::tools
