// Groups of ranks and policies of regions in traces: the tables [[trace_group]] and [[trace_policy]].
#pragma once

#include "runtime/config/settings.hpp"

#include <string>

namespace effort::config {

inline constexpr const char* trace_group_key = "TRACE_GROUP";
inline constexpr const char* trace_policy_key = "TRACE_POLICY";

/// "0,5,8-11" as ranges.  @throws Error(config) naming key, value and what is allowed
RankRanges rank_ranges(const std::string& key, const std::string& value, const std::string& allowed);

/// Each replaces all tables of its kind.  A table is a sequence of lines "key=value"; an empty line ends it.
/// @throws Error(config) for a line with an unknown key or a value that is not allowed
void set_trace_groups(Settings& s, const std::string& key, const std::string& value);
void set_trace_policies(Settings& s, const std::string& key, const std::string& value);

/// Checks that the tables are complete and consistent.  @throws Error(config)
void check_trace_rules(const Settings& s);

/// The tables as text that sets them again; "\n" if there are none.
std::string trace_groups(const Settings& s);
std::string trace_policies(const Settings& s);

}  // namespace effort::config
