// Child processes: spawn with limits and a socket, wait with a deadline, kill, and say how they ended.
//
// A confined child (Jail, Worker) runs below a small supervisor, the first process of its own pid
// namespace: when that dies, by kill() or because we died, the kernel kills everything the child ever
// started. Without namespaces, and for Isolation::None, the child's process group and its parent-death signal
// stand in for that.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/result.h"
#include "sandbox/memory_group.h"

namespace passnet::sandbox {

struct Limits {
  int64_t cpu_seconds = 0;   // per process; 0: no limit
  int64_t memory_bytes = 0;  // address space, per process; 0: no limit
  int64_t file_bytes = -1;   // largest file it may write; -1: no limit
  /// Memory of all its processes, shared memory and files in memory among it, where the kernel gives a control group
  /// (memory_group.h); 0: no limit.
  int64_t group_bytes = 0;
};

/// How much a child is confined; see isolation.h.
enum class Isolation {
  None,
  Jail /* compilers: no network */,
  Worker /* foreign graphs and kernels: no network, no exec, no write */
};

struct SpawnOptions {
  std::vector<std::string> argv;         // argv[0] is a path
  std::vector<std::string> environment;  // "K=V"; the child gets exactly these
  Limits limits;
  Isolation isolation = Isolation::None;
  int socket_fd = -1;             // handed to the child as descriptor 3; -1: none
  bool gpu = false;               // a Worker may write to the devices of NVIDIA's driver
  bool capture_output = false;    // stdout and stderr to a pipe read by wait_output
  int output_fd = -1;             // else both to this; -1: to our stderr
  std::string working_directory;  // empty: ours; in a Jail the one place where files can be written
  /// Files, directories and devices that a Jail sees, read-only, besides its working directory; symbolic links among
  /// them are followed. Empty, or where the kernel gives no root of its own (own_root_available): all that we see.
  std::vector<std::string> visible;
  /// Lets Landlock refuse to open others where it gives none. Not for compilers: they look for headers in other places too.
  bool opens_visible_alone = false;
  /// Shows a /proc of its own processes in a root of its own, where the kernel allows it.
  bool proc = false;
  /// > 0: in a root of its own the working directory is memory of so many bytes at most, and empty.
  int64_t scratch_bytes = 0;
  /// Called with argv in place of a program, which makes the child a copy of this process: with its memory and environment,
  /// in namespaces of its own, and a child of this process's parent. For fork_server.h.
  int (*entry)(int argc, char** argv) = nullptr;
};

/// How a child ended, in words for a record.
struct ExitStatus {
  bool exited = false;         // else killed by a signal
  bool out_of_memory = false;  // a process was killed, as all together held Limits::group_bytes
  int code = 0;                // exit code, or signal number
  int64_t max_rss_bytes = 0;   // of the largest process below it
  double cpu_seconds = 0;      // of all processes below it
};
/// "exit code 1", "killed by SIGSEGV (invalid memory access)", "killed by SIGXCPU (CPU time limit)".
std::string to_string(const ExitStatus& status);
/// Ended by a signal that no confined program can send, not even to itself: by the kernel, for want of memory, or by
/// somebody else.
bool ended_from_outside(const ExitStatus& status);

class Process {
 public:
  Process() = default;
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process();  // kills and reaps a child that still runs

  /// Starts a program and returns once it runs.
  /// Errors:   Io when the program cannot be started; Resource when the machine gives no process or descriptor.
  /// REQUIRES: the calling thread outlives the child. When it ends earlier the child is killed, as the kernel takes
  ///           that for the death of its parent.
  static Result<Process> spawn(const SpawnOptions& options);

  /// Numbers and descriptors to watch a process by and to wait for it.
  struct Parts {
    pid_t program = -1, child = -1;
    UniqueFd pidfd, status;
  };
  /// Leaves it to another process to wait for the child. REQUIRES: SpawnOptions::entry was given.
  Parts release() &&;
  /// REQUIRES: it is a child of this process, in namespaces of its own.
  static Process adopt(Parts parts);

  pid_t pid() const { return pid_; }
  /// Of the direct child: the program, or what supervises it. Readable once it has ended.
  int pidfd() const { return pidfd_.get(); }
  bool running() const { return pid_ > 0; }
  /// Waits for the child to end. Once it has, its whole process group is gone.
  /// Returns:  how it ended; nullopt when it is still running after `timeout`.
  /// REQUIRES: running(); so do kill and wait_output.
  std::optional<ExitStatus> wait(std::chrono::milliseconds timeout);
  /// Sends SIGKILL to the child and all it started, and waits for the child.
  ExitStatus kill();
  /// Reads the captured output to its end and waits for the child.
  /// output:   receives the first `limit_bytes` bytes.
  /// interrupted: kills the child when it becomes true; may be null.
  /// Returns:  how the child ended; nullopt when it was killed because `timeout` had passed or by an interruption.
  std::optional<ExitStatus> wait_output(std::chrono::milliseconds timeout, size_t limit_bytes, std::string* output,
                                        const std::atomic<bool>* interrupted = nullptr);

 private:
  ExitStatus reap();

  pid_t pid_ = -1;    // the program
  pid_t child_ = -1;  // our direct child: the program or its supervisor
  UniqueFd pidfd_;    // of child_
  UniqueFd status_;   // where a supervisor writes the program's wait status
  UniqueFd output_;
  std::optional<MemoryGroup> group_;
};

/// Returns: true when a Jail with visible files gets a root of its own.
bool own_root_available(bool gpu);

}  // namespace passnet::sandbox
