// Regions that only an adapter has registered: the host's calls refuse their ids until it has asked for them by name.
#include "check.h"
#include "runtime/session/adapter_port.hpp"

#include <thread>

using effort::measure::Kind;
using effort::session::AdapterPort;

namespace {

/// Runs in a thread that has made no call before.
template <typename Body>
void in_new_thread(const Body& body) {
  std::thread(body).join();
}

void refused(effort_region_id id) {
  CHECK_FAILS(effort_add(id, 1), EFFORT_ERR_UNKNOWN_ID, "was never returned");
  CHECK_FAILS(effort_end(id), EFFORT_ERR_UNKNOWN_ID, "was never returned");
  in_new_thread([&] { CHECK_FAILS(effort_begin(id), EFFORT_ERR_UNKNOWN_ID, "was never returned"); });
}

void accepted(effort_region_id id) {
  CHECK_OK(effort_add(id, 1));
  CHECK_OK(effort_begin(id));
  CHECK_OK(effort_end(id));
  in_new_thread([&] {
    CHECK_OK(effort_begin(id));
    CHECK_OK(effort_end(id));
  });
}

/// The adapter's own calls are accepted, also in new threads, around regions of the host.
void adapter_measures(AdapterPort& port, std::uint32_t its, effort_region_id hosts) {
  const auto nested = [&] {
    CHECK(port.begin_region(its));
    CHECK_OK(effort_begin(hosts));
    CHECK(!port.end_region(its));
    CHECK_OK(effort_end(hosts));
    CHECK(port.end_region(its));
    CHECK(!port.end_region(its));
  };
  nested();
  in_new_thread(nested);
  CHECK(!port.begin_region(0));
  CHECK(!port.begin_region(EFFORT_MAX_REGIONS));
}

}  // namespace

int main() {
  AdapterPort& port = *effort::session::adapter_port();
  CHECK(!port.begin_region(1));
  // The adapter begins the session.  The host registers a region before its own init, which needs a new session.
  CHECK(port.begin());
  const std::uint32_t its = port.region("its", Kind::comm), asked = port.region("asked", Kind::comm);
  effort_region_id hosts = -1, found = -1;
  CHECK_OK(effort_region("hosts", EFFORT_COMPUTE, &hosts));
  effort_config* config = nullptr;
  CHECK_OK(effort_config_new(&config));
  CHECK_OK(effort_config_set(config, "METRICS", "time,page_faults"));
  CHECK_OK(effort_init(config));
  CHECK_OK(effort_config_free(config));
  accepted(hosts);
  refused(static_cast<effort_region_id>(its));
  refused(static_cast<effort_region_id>(asked));
  adapter_measures(port, its, hosts);
  CHECK_OK(effort_region_find("asked", &found));
  CHECK(found == static_cast<effort_region_id>(asked));
  accepted(found);
  CHECK_OK(effort_progress_step());
  refused(static_cast<effort_region_id>(its));
  CHECK_OK(effort_finalize());
  return failures() != 0;
}
