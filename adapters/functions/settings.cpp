#include "adapters/functions/settings.hpp"

#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "adapters/functions/thread.hpp"
#include "runtime/environment.hpp"
#include "runtime/host_scope.hpp"

namespace effort::functions {

namespace {

/// The costs of recording an event and of a time stamp, for the limit of FUNCTIONS_OVERHEAD (docs/adr/0041, 0049).
constexpr double event_ns = 8, stamp_ns = 35;
constexpr double default_overhead = 0.1;

bool is_set(const char* name) {
  const char* const value = environment(name);
  return value && value[0] != '\0' && std::strcmp(value, "0") != 0 && std::strcmp(value, "off") != 0 &&
         std::strcmp(value, "false") != 0;
}

const char* first_of(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* value = environment(name); value && value[0] != '\0') return value;
  return nullptr;
}

/// Parses a number such as 0.05, whatever the host's locale; -1 if it is not a number.
double decimal(const char* text) {
  double value = 0, unit = 1;
  bool digits = false, fraction = false;
  for (; *text != '\0'; ++text) {
    if (*text == '.' && !fraction) {
      fraction = true;
    } else if (*text >= '0' && *text <= '9') {
      value = value * 10 + (*text - '0');
      if (fraction) unit *= 10;
      digits = true;
    } else {
      return -1;
    }
  }
  return digits ? value / unit : -1;
}

/// Creates a directory and its parents.
bool make_directory(char* path) {
  for (char* at = path + 1;; ++at) {
    if (*at != '/' && *at != '\0') continue;
    const char end = *at;
    *at = '\0';
    const bool made = ::mkdir(path, 0777) == 0 || errno == EEXIST;
    *at = end;
    if (!made) return false;
    if (end == '\0') return true;
  }
}

/// Copies a job's id so that it can be part of a file name.
void copy_name(char* to, std::size_t bytes, const char* from) {
  std::size_t n = 0;
  for (; from[n] != '\0' && n + 1 < bytes; ++n) {
    const char c = from[n];
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    to[n] = plain ? c : '_';
  }
  to[n] = '\0';
}

}  // namespace

Settings read_settings() {
  Settings s;
  const char* const functions = environment("EFFORT_FUNCTIONS");
  const char* const trace = environment("EFFORT_TRACE");
  if (is_set("EFFORT_DISABLE")) return s;
  s.all_modules = functions && std::strcmp(functions, "all") == 0;
  s.on = s.all_modules || (functions && std::strcmp(functions, "main") == 0) ||
         (!functions && trace && std::strcmp(trace, "functions") == 0);
  s.modules = environment("EFFORT_FUNCTIONS_MODULES");
  if (s.modules && s.modules[0] == '\0') s.modules = nullptr;
  s.names = environment("EFFORT_FUNCTIONS_FILTER");
  if (s.names && s.names[0] == '\0') s.names = nullptr;
  if (const char* depth = environment("EFFORT_FUNCTIONS_DEPTH"))
    s.depth = static_cast<std::uint32_t>(std::clamp(std::atol(depth), 0l, 1'000'000'000l));
  if (const char* stamps = environment("EFFORT_FUNCTIONS_STAMPS"))
    s.stamp_every = static_cast<std::uint32_t>(std::clamp(std::atol(stamps), 0l, long{calls::most_stamp_every}));
  const LibraryScope scope;  // a library that is loaded late computes in the host's environment
  const char* const overhead = environment("EFFORT_FUNCTIONS_OVERHEAD");
  const double share = overhead ? decimal(overhead) : default_overhead;
  const double cost = event_ns + (s.stamp_every > 0 ? stamp_ns / s.stamp_every : 0);
  constexpr double never_ns = 1e18;  // 30 years
  if (share > 0 && share < 1)
    s.least_ns = static_cast<std::uint64_t>(std::min(Thread::look_every * cost / share, never_ns));
  return s;
}

namespace {

/// The next of a list of patterns, without `-`; false at its end.
struct Patterns {
  const char* at;
  char pattern[256];
  bool negative = false;

  bool next() {
    while (at && *at != '\0') {
      const char* const comma = std::strchr(at, ',');
      const char* from = at;
      std::size_t n = comma ? static_cast<std::size_t>(comma - at) : std::strlen(at);
      at = comma ? comma + 1 : nullptr;
      negative = n > 0 && *from == '-';
      from += negative;
      n -= negative;
      if (n == 0 || n >= sizeof pattern) continue;
      std::memcpy(pattern, from, n);
      pattern[n] = '\0';
      return true;
    }
    return false;
  }
};

}  // namespace

bool matches_any(const char* patterns, const char* path) {
  const char* const slash = std::strrchr(path, '/');
  for (Patterns p{patterns, {}}; p.next();)
    if (::fnmatch(p.pattern, slash ? slash + 1 : path, 0) == 0) return true;
  return false;
}

bool passes_filter(const char* patterns, const char* name) {
  bool any_positive = false, positive = false;
  for (Patterns p{patterns, {}}; p.next();) {
    const bool matches = ::fnmatch(p.pattern, name, 0) == 0;
    if (p.negative && matches) return false;
    any_positive = any_positive || !p.negative;
    positive = positive || (!p.negative && matches);
  }
  return positive || !any_positive;
}

std::int64_t rank_of_process() {
  const char* const rank = first_of({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK",
                                     "SLURM_PROCID", "FLUX_TASK_RANK", "ALPS_APP_PE"});
  if (!rank) return -1;
  char* end = nullptr;
  const long value = std::strtol(rank, &end, 10);
  return *end == '\0' && value >= 0 ? value : -1;
}

bool make_path(char* path, std::size_t bytes) {
  char program[512];
  const long n = ::readlink("/proc/self/exe", program, sizeof program - 1);
  program[n > 0 ? n : 0] = '\0';
  const char* const slash = std::strrchr(program, '/');
  char name[128], job[128], directory[512] = "";
  copy_name(name, sizeof name, slash ? slash + 1 : program);
  char number[32];
  std::snprintf(number, sizeof number, "%ld", static_cast<long>(::getpid()));
  const char* const launched = first_of({"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "PMIX_NAMESPACE",
                                         "OMPI_MCA_ess_base_jobid", "PMI_JOBID"});
  copy_name(job, sizeof job, launched ? launched : number);
  const char* const wanted = environment("EFFORT_SNAPSHOT_DIR");
  if (!wanted || wanted[0] != '/')
    if (!::getcwd(directory, sizeof directory)) return false;
  const char* const relative = wanted ? wanted : "";
  int length = std::snprintf(path, bytes, "%s%s%s/%s-%s.functions", directory, wanted && wanted[0] != '/' ? "/" : "",
                             relative, name, job);
  if (length < 0 || static_cast<std::size_t>(length) + 64 > bytes || !make_directory(path)) return false;
  const std::int64_t rank = rank_of_process();
  const std::size_t end = static_cast<std::size_t>(length);
  if (rank >= 0) {
    std::snprintf(path + end, bytes - end, "/rank-%ld-%s.rec", static_cast<long>(rank), number);
  } else {
    std::snprintf(path + end, bytes - end, "/process-%s.rec", number);
  }
  return true;
}

}  // namespace effort::functions
