// The settings of traces (TRACE_*).
#pragma once

#include "runtime/config/settings.hpp"

#include <string>

namespace effort::config {

/// Each sets one value from text.  @throws Error(config) naming the key, its value and what is allowed
void set_trace_memory(Settings& s, const std::string& key, const std::string& value);
void set_trace_time(Settings& s, const std::string& key, const std::string& value);
void set_trace_confidence(Settings& s, const std::string& key, const std::string& value);
void set_trace_error(Settings& s, const std::string& key, const std::string& value);
void set_trace_budget(Settings& s, const std::string& key, const std::string& value);
void set_trace_pin(Settings& s, const std::string& key, const std::string& value);
void set_trace_design(Settings& s, const std::string& key, const std::string& value);
void set_trace_update(Settings& s, const std::string& key, const std::string& value);
void set_trace_guide(Settings& s, const std::string& key, const std::string& value);
void set_trace_names(Settings& s, const std::string& key, const std::string& value);
void set_trace_reduce(Settings& s, const std::string& key, const std::string& value);

/// The values as text that sets them again.
std::string trace_time(const Settings& s);
std::string trace_pin(const Settings& s);
std::string trace_reduce(const Settings& s);
std::string trace_design(TraceDesign design);

}  // namespace effort::config
