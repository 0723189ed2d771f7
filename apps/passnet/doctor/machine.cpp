// The doctor's findings about the machine itself: processor, memory, disk, clock, shared memory.
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/text/strings.h"
#include "doctor/doctor.h"
#include "run/evaluate/evaluate.h"
#include "wire/bundle.h"

namespace passnet::cli {

namespace {

using Mark = Finding::Mark;
constexpr double kGiB = 1024.0 * 1024 * 1024;

// The value of "key : value" in a /proc file, or "".
std::string field(const std::string& path, std::string_view key) {
  const Result<std::string> text = read_file(path, FileKind::System);
  if (!text) return "";
  for (const std::string_view line : split(*text, '\n')) {
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == key)
      return std::string(trim(line.substr(colon + 1)));
  }
  return "";
}

std::string first_line(const std::string& path) {
  const Result<std::string> text = read_file(path, FileKind::System);
  return text ? std::string(trim(split(*text, '\n').front())) : "";
}

double gib_of_kb(const std::string& text) {
  return text.empty() ? 0 : static_cast<double>(std::stoll(text)) / 1024 / 1024;
}

// The widest vector instructions that kernels are compiled for here.
std::string vector_instructions() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) {
    return __builtin_cpu_supports("avx512bf16") ? "AVX-512 with bf16" : "AVX-512";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "AVX2";
  return "SSE only";
}

// By trying: permissions, read-only mounts and pseudo file systems all end here.
bool can_write(const std::filesystem::path& directory) {
  std::string probe = (directory / ".passnet_doctor_XXXXXX").string();
  return ::mkdtemp(probe.data()) && ::rmdir(probe.c_str()) == 0;
}

}  // namespace

Finding examine_processor() {
  std::string model = field("/proc/cpuinfo", "model name");
  if (model.empty()) model = "unknown processor";
  const int threads = run::available_threads();
  const std::string vectors = vector_instructions();
  Finding finding{.topic = "processor", .found = fmt::format("{}; {} threads usable; {}", model, threads, vectors)};
  if (vectors == "SSE only") {
    finding.mark = Mark::Missing;
    finding.required = true;
    finding.fix = "kernels are compiled for AVX2 and FMA; this processor has neither: use another machine";
  } else if (threads < 2) {
    finding.mark = Mark::Warn;
    finding.fix = "with one thread the timed process shares it with everything else; give this process two";
  }
  return finding;
}

Finding examine_memory() {
  double available = gib_of_kb(field("/proc/meminfo", "MemAvailable"));
  const double total = gib_of_kb(field("/proc/meminfo", "MemTotal"));
  std::string limit;
  if (const std::string cgroup = first_line("/sys/fs/cgroup/memory.max"); !cgroup.empty() && cgroup != "max") {
    const double limit_gib = std::stod(cgroup) / kGiB;
    available = std::min(available, limit_gib);
    limit = fmt::format(", limited to {:.1f} GiB by the control group", limit_gib);
  }
  Finding finding{.topic = "memory", .found = fmt::format("{:.1f} of {:.1f} GiB available{}", available, total, limit)};
  if (available < 2) {
    finding.mark = Mark::Warn;
    finding.fix = "two workers take about 1 GiB, large graphs more: close other programs";
  }
  return finding;
}

Finding examine_disk() {
  const std::filesystem::path home = passnet_home();
  std::filesystem::path existing = home;
  while (!existing.empty() && !path_exists(existing)) existing = existing.parent_path();
  Finding finding{.topic = "disk", .required = true};
  struct statvfs info {};
  if (::statvfs(existing.c_str(), &info) != 0 || !can_write(existing)) {
    finding.mark = Mark::Missing;
    finding.found = fmt::format("'{}' (environments and compiled kernels) cannot be written", home.string());
    finding.fix = "export PASSNET_HOME=DIR  with a directory that can be written";
    return finding;
  }
  const double free_gib = static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize) / kGiB;
  finding.found = fmt::format("{:.1f} GiB free at {} (environments and compiled kernels)", free_gib, home.string());
  if (free_gib < 6) {
    finding.mark = Mark::Warn;
    finding.fix = "the demo's PyTorch takes 1.3 GiB, that of the tests 4.9 GiB: free some, or set PASSNET_HOME";
  }
  return finding;
}

Finding examine_clock() {
  using Clock = std::chrono::steady_clock;
  constexpr int kReads = 20000;
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < kReads; ++i) (void)Clock::now();
  const double cost_ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kReads;
  std::string source = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (source.empty()) source = "unknown";
  Finding finding{.topic = "clock", .found = fmt::format("source {}; reading it takes {:.0f} ns", source, cost_ns)};
  if (cost_ns > 250) {
    finding.mark = Mark::Warn;
    finding.fix = "times of a few microseconds carry this cost; a tsc or kvm-clock source is faster";
  }
  return finding;
}

Finding examine_shared_memory() {
  Finding finding{.topic = "shared memory", .found = "memfd with seals", .required = true};
  Result<UniqueFd> memory = wire::create_memory("doctor", 4096);
  Result<void> sealed = memory ? wire::seal(memory->get()) : Result<void>(memory.error());
  if (!sealed) {
    finding.mark = Mark::Missing;
    finding.found = sealed.error().message;
    finding.fix = "memfd_create needs Linux 3.17 or newer and a container that does not forbid it";
  }
  return finding;
}

}  // namespace passnet::cli
