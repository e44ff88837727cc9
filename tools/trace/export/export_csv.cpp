#include <array>
#include <bit>
#include <charconv>

#include "tools/files/output_file.hpp"
#include "tools/output/csv_field.hpp"
#include "tools/trace/export/export.hpp"

namespace effort::tools {

namespace {

using trace::Kind;
constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

template <typename Number>
void append(std::string& line, Number value) {
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  line.append(buffer.data(), result.ptr);
}

/// Names as fields, made once.
struct Fields {
  std::vector<std::string> regions, communicators, phases, units;

  explicit Fields(const Trace& trace) {
    for (const TraceRegion& region : trace.regions) regions.push_back(csv_field(region.name));
    for (std::size_t i = 0; i < trace.communicators.size(); ++i) {
      const std::string& name = trace.communicators[i].name;
      communicators.push_back(csv_field(name.empty() ? "communicator " + std::to_string(i) : name));
    }
    for (const std::string& phase : trace.phases) phases.push_back(csv_field(phase));
    for (const std::string& unit : trace.units) units.push_back(csv_field(unit));
  }
};

/// kind,name,communicator,peer,tag,bytes,received_bytes,request: empty where the kind has none.
void append_event(std::string& line, const TraceEvent& event, const Fields& fields) {
  const bool enter_leave = event.kind == Kind::enter || event.kind == Kind::leave;
  const bool collective = event.kind == Kind::collective || event.kind == Kind::one_sided;
  const bool message = event.kind == Kind::send || event.kind == Kind::send_start || event.kind == Kind::receive ||
                       event.kind == Kind::receive_start || event.kind == Kind::receive_done;
  const bool request = event.kind == Kind::send_start || event.kind == Kind::send_done ||
                       event.kind == Kind::receive_start || event.kind == Kind::receive_done ||
                       event.kind == Kind::request_cancelled;
  line += trace::kind_text(event.kind);
  line += ',';
  if (enter_leave) line += fields.regions[event.id];
  if (event.kind == Kind::phase) line += fields.phases[event.id];
  if (event.kind == Kind::work) line += fields.units[event.id];
  line += ',';
  if (message || collective) line += fields.communicators[event.id];
  line += ',';
  if ((message || collective) && event.peer >= 0) append(line, event.peer);
  line += ',';
  if (message && event.tag >= 0) append(line, event.tag);
  line += ',';
  if (event.kind == Kind::work) append(line, std::bit_cast<double>(event.bytes));
  if ((message && event.kind != Kind::receive_start) || collective || event.kind == Kind::step)
    append(line, event.bytes);
  line += ',';
  if (collective) append(line, event.received_bytes);
  line += ',';
  if (request) append(line, event.request);
}

}  // namespace

TraceExported export_trace_csv(const Trace& trace, const TraceMessages& messages, const std::filesystem::path& out) {
  const Fields fields(trace);
  OutputFile file(out);
  std::string buffer = "rank,thread,window,time_ns,kind,name,communicator,peer,tag,bytes,received_bytes,request\n";
  for (const TraceThread& thread : trace.threads) {
    const std::string place = std::to_string(thread.rank) + "," + std::to_string(thread.thread) + ",";
    for (const TraceSpan& span : thread.spans) {
      const std::string start = place + std::to_string(trace.windows[span.window].ordinal) + ",";
      for (std::size_t i = span.first; i < span.end; ++i) {
        buffer += start;
        append(buffer, thread.events[i].time_ns);
        buffer += ',';
        append_event(buffer, thread.events[i], fields);
        buffer += '\n';
        if (buffer.size() < buffer_bytes) continue;
        file.write(buffer);
        buffer.clear();
      }
    }
  }
  file.write(buffer);
  file.commit();
  return {trace.events(), messages.matched.size(), {out.string()}};
}

}  // namespace effort::tools
