// Counters that the kernel keeps.  They need neither a library nor a permission.
#include "record/descriptor.hpp"
#include "runtime/measure/clock.hpp"
#include "runtime/measure/metric_source.hpp"

#include <cstdlib>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace effort::measure {
namespace {

/// A source of one counter whose reader is `Reader`.
template <typename Reader>
class Single final : public MetricSource {
 public:
  explicit Single(Counter counter) : counters_{std::move(counter)} {}
  const std::vector<Counter>& counters() const override { return counters_; }
  std::unique_ptr<CounterReader> open(bool whole) override {
    if (counters_[0].whole && !whole) return nullptr;
    return std::make_unique<Reader>();
  }

 private:
  std::vector<Counter> counters_;
};

class CpuTime final : public CounterReader {
 public:
  void read(std::int64_t* values) noexcept override { values[0] = thread_cpu_ns(); }
};

rusage of_this_thread() {
  rusage u{};
  getrusage(RUSAGE_THREAD, &u);
  return u;
}

class PageFaults final : public CounterReader {
 public:
  void read(std::int64_t* values) noexcept override {
    const rusage u = of_this_thread();
    values[0] = u.ru_minflt + u.ru_majflt;
  }
};

class ContextSwitches final : public CounterReader {
 public:
  void read(std::int64_t* values) noexcept override {
    const rusage u = of_this_thread();
    values[0] = u.ru_nvcsw + u.ru_nivcsw;
  }
};

/// Resident memory from /proc/self/statm, whose second number it is, in pages.
class ResidentMemory final : public CounterReader {
 public:
  ResidentMemory() : file_(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC)), page_(sysconf(_SC_PAGESIZE)) {}

  void read(std::int64_t* values) noexcept override {
    char text[128];
    values[0] = no_reading;
    const ssize_t n = file_.is_open() ? pread(file_.number(), text, sizeof text - 1, 0) : -1;
    if (n <= 0) return;
    text[n] = '\0';
    char* end = nullptr;
    std::strtoll(text, &end, 10);
    const std::int64_t pages = std::strtoll(end, nullptr, 10);
    values[0] = pages * page_;
  }

 private:
  record::Descriptor file_;
  std::int64_t page_;
};

}  // namespace

bool is_builtin_counter(const std::string& name) {
  return name == "cpu_time" || name == "page_faults" || name == "context_switches" || name == "rss";
}

std::shared_ptr<MetricSource> builtin_source(const std::string& name) {
  Counter c{name, "1"};
  if (name == "cpu_time") {
    c.unit = "s";
    c.scale = 1e-9;
    return std::make_shared<Single<CpuTime>>(c);
  }
  if (name == "page_faults") return std::make_shared<Single<PageFaults>>(c);
  if (name == "context_switches") return std::make_shared<Single<ContextSwitches>>(c);
  c.unit = "B";
  c.value = c.whole = true;
  return std::make_shared<Single<ResidentMemory>>(c);
}

}  // namespace effort::measure
