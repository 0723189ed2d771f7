// Child processes: spawn with limits and a socket, wait with a deadline, kill, and say how they ended.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace passnet::sandbox {

struct Limits {
  int64_t cpu_seconds = 0;      // 0: no limit
  int64_t memory_bytes = 0;     // address space; 0: no limit
  int64_t file_bytes = -1;      // largest file it may write; -1: no limit
};

/// How much a child is confined; see isolation.h.
enum class Isolation { None, Jail /* compilers: no network */, Candidate /* foreign kernels: no network, no exec, no write */ };

struct SpawnOptions {
  std::vector<std::string> argv;             // argv[0] is a path
  std::vector<std::string> environment;      // "K=V"; the child gets exactly these
  Limits limits;
  Isolation isolation = Isolation::None;
  int socket_fd = -1;                        // handed to the child as descriptor 3; -1: none
  bool capture_output = false;               // stdout and stderr to a pipe read by wait_output
  std::string working_directory;             // empty: ours
};

/// How a child ended, in words for a record.
struct ExitStatus {
  bool exited = false;        // else killed by a signal
  int code = 0;               // exit code, or signal number
  int64_t max_rss_bytes = 0;
  double cpu_seconds = 0;
};
/// "exit code 1", "killed by SIGSEGV (invalid memory access)", "killed by SIGXCPU (CPU time limit)".
std::string to_string(const ExitStatus& status);

class Process {
 public:
  Process() = default;
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process();  // kills and reaps a child that still runs

  static Result<Process> spawn(const SpawnOptions& options);

  pid_t pid() const { return pid_; }
  bool running() const { return pid_ > 0; }
  /// nullopt when it is still running at the deadline.
  std::optional<ExitStatus> wait(std::chrono::milliseconds timeout);
  /// SIGKILL to its whole process group, then reaps it.
  ExitStatus kill();
  /// Reads captured output to its end (at most `limit_bytes`), then reaps. nullopt on time-out (the child is killed).
  std::optional<ExitStatus> wait_output(std::chrono::milliseconds timeout, size_t limit_bytes, std::string* output);

 private:
  pid_t pid_ = -1;
  UniqueFd output_;
};

}  // namespace passnet::sandbox
