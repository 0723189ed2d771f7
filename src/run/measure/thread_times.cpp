#include "run/measure/thread_times.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/file/file.h"

namespace passnet::run {

namespace {

constexpr size_t kProcFileBytes = 8192;

/// The beginning of a file of /proc, which has no size of its own; empty when it cannot be read.
std::string read_proc(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(kProcFileBytes, '\0');
  const ssize_t got = fd ? ::read(fd.get(), text.data(), text.size()) : -1;
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

/// The number at the beginning of the text after blanks; 0 when there is none.
int64_t leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Field `index` (from 0) of a line whose fields are divided by single blanks; empty when there are fewer.
std::string_view field(std::string_view line, size_t index) {
  for (; index > 0; --index) {
    const size_t blank = line.find(' ');
    if (blank == std::string_view::npos) return {};
    line.remove_prefix(blank + 1);
  }
  return line.substr(0, line.find_first_of(" \n"));
}

/// Where a thread ran last: field 39 of /proc/PID/task/TID/stat, counted after the name, which may hold blanks.
int last_processor(std::string_view stat) {
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 > stat.size()) return -1;
  const std::string_view processor = field(stat.substr(name_end + 2), 36);
  return processor.empty() ? -1 : static_cast<int>(leading_number(processor));
}

/// Field 3, right after the name.
char state_of(std::string_view stat) {
  const size_t name_end = stat.rfind(')');
  return name_end == std::string_view::npos || name_end + 2 >= stat.size() ? 'S' : stat[name_end + 2];
}

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> threads;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(fmt::format("/proc/{}/task", pid).c_str()),
                                                      &::closedir);
  while (const dirent* entry = directory ? ::readdir(directory.get()) : nullptr) {
    if (const int64_t thread = leading_number(entry->d_name); thread > 0) threads.push_back(static_cast<pid_t>(thread));
  }
  return threads;
}

const ThreadTime* find_thread(const std::vector<ThreadTime>& times, pid_t thread) {
  const auto found =
      std::find_if(times.begin(), times.end(), [&](const ThreadTime& time) { return time.thread == thread; });
  return found == times.end() ? nullptr : &*found;
}

void read_times(pid_t pid, const std::vector<pid_t>& threads, std::vector<ThreadTime>& times) {
  for (const pid_t thread : threads) {
    const std::string task = fmt::format("/proc/{}/task/{}", pid, thread);
    const std::string schedstat = read_proc(task + "/schedstat");
    if (schedstat.empty()) continue;  // it ended just now, or nothing is kept
    const std::string stat = read_proc(task + "/stat");
    times.push_back({thread, last_processor(stat), leading_number(field(schedstat, 0)),
                     leading_number(field(schedstat, 1)), state_of(stat)});
  }
}

std::optional<std::vector<ThreadTime>> unless_empty(std::vector<ThreadTime> times) {
  if (times.empty()) return std::nullopt;
  return times;
}

}  // namespace

std::optional<std::vector<ThreadTime>> read_thread_times(const std::vector<pid_t>& pids) {
  std::vector<ThreadTime> times;
  for (const pid_t pid : pids) read_times(pid, threads_of(pid), times);
  return unless_empty(std::move(times));
}

std::optional<std::vector<ThreadTime>> read_own_thread_time() {
  std::vector<ThreadTime> times;
  read_times(::getpid(), {static_cast<pid_t>(::syscall(SYS_gettid))}, times);
  return unless_empty(std::move(times));
}

std::optional<std::vector<ThreadTime>> read_first_thread_time(pid_t pid) {
  std::vector<ThreadTime> times;
  read_times(pid, {pid}, times);
  return unless_empty(std::move(times));
}

bool is_stopped(pid_t pid) {
  return std::ranges::all_of(threads_of(pid), [&](pid_t thread) {
    const std::string stat = read_proc(fmt::format("/proc/{}/task/{}/stat", pid, thread));
    return stat.empty() || std::string_view("TtZX").find(state_of(stat)) != std::string_view::npos;
  });
}

int64_t read_involuntary_switches(pid_t pid) {
  constexpr std::string_view kKey = "nonvoluntary_ctxt_switches:";
  int64_t switches = 0;
  for (const pid_t thread : threads_of(pid)) {
    const std::string status = read_proc(fmt::format("/proc/{}/task/{}/status", pid, thread));
    if (const size_t at = status.find(kKey); at != std::string::npos)
      switches += leading_number(std::string_view(status).substr(at + kKey.size()));
  }
  return switches;
}

std::chrono::nanoseconds waited_for_others(const std::vector<ThreadTime>& before,
                                           const std::vector<ThreadTime>& after) {
  std::vector<ThreadTime> spent;
  for (const ThreadTime& time : after) {
    const ThreadTime* earlier = find_thread(before, time.thread);
    const ThreadTime none;
    const ThreadTime& since = earlier != nullptr ? *earlier : none;
    spent.push_back(
        {time.thread, time.processor, time.ran_ns - since.ran_ns, time.waited_ns - since.waited_ns, time.state});
  }
  int64_t longest = 0;
  for (const ThreadTime& one : spent) {
    int64_t own = 0;
    for (const ThreadTime& other : spent) {
      if (other.thread != one.thread && other.processor == one.processor) own += other.ran_ns;
    }
    longest = std::max(longest, one.waited_ns - own);
  }
  return std::chrono::nanoseconds(longest);
}

std::chrono::nanoseconds ran_between(const std::vector<ThreadTime>& before, const std::vector<ThreadTime>& after) {
  int64_t ran = 0;
  for (const ThreadTime& time : after) {
    const ThreadTime* earlier = find_thread(before, time.thread);
    ran += time.ran_ns - (earlier != nullptr ? earlier->ran_ns : 0);
  }
  return std::chrono::nanoseconds(ran);
}

int64_t parse_pressure(std::string_view text) {
  constexpr std::string_view kKey = "total=";
  const size_t some = text.find("some ");
  const size_t total = some == std::string_view::npos ? some : text.find(kKey, some);
  return total == std::string_view::npos ? 0 : leading_number(text.substr(total + kKey.size()));
}

int64_t parse_stolen_ticks(std::string_view text) {
  constexpr std::string_view kKey = "cpu  ";
  if (!text.starts_with(kKey)) return 0;
  return leading_number(field(text.substr(kKey.size()), 7));
}

MachineTimes read_machine_times() {
  const int64_t ticks_per_second = std::max(1L, ::sysconf(_SC_CLK_TCK));
  return {parse_stolen_ticks(read_proc("/proc/stat")) * 1000 / ticks_per_second,
          parse_pressure(read_proc("/proc/pressure/cpu"))};
}

}  // namespace passnet::run
