// What the kernel tells of the threads of a process: how long each ran, and how long it waited for a processor that
// something else held. From this and nothing else a block of timed calls is called disturbed: never from its times.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace passnet::run {

/// One thread at one moment, since it began.
struct ThreadTime {
  pid_t thread = 0;
  int processor = -1;     // where it ran last
  int64_t ran_ns = 0;     // on a processor
  int64_t waited_ns = 0;  // ready to run, while its processor was given to another thread
  char state = 'S';       // as /proc has it: R runs or is ready to, S and D sleep, T is stopped
  /// Its times do not change, and are up to date: those of a thread that runs are a tick old.
  bool rests() const { return state != 'R'; }
};

/// The threads of all of `pids`; nullopt where the system keeps no such figures (/proc/PID/task/TID/schedstat).
std::optional<std::vector<ThreadTime>> read_thread_times(const std::vector<pid_t>& pids);
/// Of the thread that asks.
std::optional<std::vector<ThreadTime>> read_own_thread_time();
/// Of its first thread alone, which costs as much however many others there are.
std::optional<std::vector<ThreadTime>> read_first_thread_time(pid_t pid);

/// Whether every thread of process `pid` stands still or has ended, as after a SIGSTOP that has reached all of them.
bool is_stopped(pid_t pid);

/// Times that threads of process `pid` were taken off their processor, since it began; 0 when not known.
int64_t read_involuntary_switches(pid_t pid);

/// The longest that any thread waited between two moments for a processor that another *process* held. What it waited
/// for threads of its own process on the same processor is its own doing, and not counted.
std::chrono::nanoseconds waited_for_others(const std::vector<ThreadTime>& before, const std::vector<ThreadTime>& after);

/// How long all threads together ran between two moments.
std::chrono::nanoseconds ran_between(const std::vector<ThreadTime>& before, const std::vector<ThreadTime>& after);

/// What the whole machine did, since it was started.
struct MachineTimes {
  int64_t stolen_ms = 0;    // over all processors: given to other machines by the host
  int64_t pressure_us = 0;  // something waited for a processor
};
MachineTimes read_machine_times();

/// Microseconds of the line "some … total=N" of /proc/pressure/cpu; 0 when there is none.
int64_t parse_pressure(std::string_view text);
/// Clock ticks of the field "steal" of the first line of /proc/stat; 0 when there is none.
int64_t parse_stolen_ticks(std::string_view text);

}  // namespace passnet::run
