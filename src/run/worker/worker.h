// A worker process as control sees it: started, asked, and replaced when it is lost. Whatever a worker does (crash,
// hang, nonsense), the caller gets an Error to put into a record. Its `failure` is "crash", "killed" (from outside: the
// machine's memory is used up, or somebody did it), "timeout", "nonsense", "interrupted" (the worker is gone), or what
// the worker replied ("bad-input", "bad-pass", "unsupported", "unwritten-output", …; it lives on).
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/json/json_indirect.h"
#include "base/result.h"
#include "run/worker/shared_device.h"
#include "sandbox/fork_server.h"
#include "sandbox/process.h"
#include "wire/bundle.h"

namespace passnet::run {

/// Package: a candidate that runs what a compiler of PyTorch's made ahead of time of a foreign graph. It unpacks that, so
/// files can be written below /tmp. Capture: a program that speaks the same protocol, given by WorkerOptions::program.
enum class Role { Reference, Candidate, Package, Capture };
const char* to_string(Role role);

/// A program that speaks the protocol in a jail of its own: files can be written below `directory` alone.
struct JailedProgram {
  std::vector<std::string> argv;         // argv[0] is a path
  std::vector<std::string> environment;  // "K=V"; it gets exactly these
  std::filesystem::path directory;
  std::vector<std::string> visible = {};  // sandbox::SpawnOptions; empty: all files of this machine
  int64_t memory_bytes = 0;               // of all its processes, where they can be counted together; 0: no limit
  int64_t scratch_bytes = 0;              // sandbox::SpawnOptions
  /// Copies of passes by the paths that they have below "/": it runs their host code, so an error is at one of them, and
  /// its text is cut. Empty: it runs none.
  std::filesystem::path passes = {};
};

/// What `passnet selftest` switches off in all of a worker, to see what the other defences hold.
struct WorkerDefences {
  bool operator_list = true;  // graphs may call operators of a list (ir/ops/aten.h), else all of ATen's
  bool jail = true;           // sandbox::Isolation::Worker and its filter
};

struct WorkerOptions {
  std::filesystem::path binary;  // passnet-worker; empty: find_worker_binary()
  Role role = Role::Reference;
  int threads = 1;
  const std::atomic<bool>* interrupted = nullptr;  // when it becomes true, a request under way is given up
  std::optional<int> gpu = {};                     // the CUDA device that graphs run on; none: the CPU
  std::vector<int> processors = {};                // one for each thread; empty: of those this process may run on
  std::vector<std::string> program = {};  // in place of `binary`: a path with arguments, started with our environment
  std::optional<JailedProgram> jailed = {};  // in place of `binary`
  /// Makes the process as a copy, with the environment and on the processors of whichever was first; null: it loads the program.
  sandbox::ForkServer* forks = nullptr;
  DeviceSlot* slot = nullptr;  // the part in a device that others use as well; null: it has the device for itself
  WorkerDefences defences = {};
  std::chrono::milliseconds start_timeout{60000};  // starting libtorch takes half a second on a quiet machine
};

/// "cpu", "cuda", "cuda:1" -> none, 0, 1. Errors: BadInput.
Result<std::optional<int>> parse_device(const std::string& text);

/// passnet-worker beside the running binary. Errors: Resource with the command that builds it.
Result<std::filesystem::path> find_worker_binary();

struct Reply {
  IndirectJson json;  // "ok" is true
  std::vector<UniqueFd> fds;
};

class Worker {
 public:
  explicit Worker(WorkerOptions options);
  ~Worker();
  Worker(Worker&&) noexcept;
  Worker& operator=(Worker&&) noexcept;

  /// Spawns the process and returns at once; the first request waits for it to come up. Errors: Resource, Io.
  Result<void> start();
  bool alive() const;
  pid_t pid() const;
  /// How often it was started. What was loaded there is there while this is the same, and it is alive().
  int starts() const;
  DeviceSlot* slot() const;
  /// WorkerOptions::interrupted
  const std::atomic<bool>* interrupted() const;
  /// Whether it is a Python, which would execute the text of a graph: it gets what PassNet prints, not the file's.
  bool runs_python() const;
  std::chrono::milliseconds start_timeout() const;

  /// Sends `request` and waits for its reply. A lost worker is reaped and stays lost until start() is called again.
  /// Where its device is shared it waits for its turn first. PASSNET_LOG=debug shows how long each request took.
  Result<Reply> ask(const Json& request, const std::vector<int>& fds, std::chrono::milliseconds timeout);

  /// The process that runs kernels for it, by its pidfd, from now on; an empty descriptor: none.
  void set_kernel_process(UniqueFd process);
  /// It and the processes that compute for it.
  std::vector<pid_t> pids() const;

  /// Stops all its threads where they are, and lets them go on. A worker that is stopped gives no answer. Nothing
  /// happens to one that is not running.
  void pause();
  void resume();

  /// Asks the process to exit, and does not wait until it has. Nobody can ask it anything more; stop() ends it.
  void dismiss();
  /// Ends the process: asks it to exit, kills it when it does not within `patience`.
  void stop(std::chrono::milliseconds patience = std::chrono::milliseconds(300));

 private:
  Result<Reply> exchange(const Json& request, const std::vector<int>& fds, std::chrono::milliseconds timeout);
  Error lose(std::string failure, std::string message);
  std::optional<Error> last_words();
  struct State;
  std::unique_ptr<State> state_;
};

/// Tensors in a bundle's memory, with the descriptor that holds them.
struct Bundle {
  std::vector<wire::Entry> entries;
  UniqueFd fd;
  int64_t size_bytes = 0;
  std::optional<uint64_t> call_seed = {};  // of inputs: what random operators in calls on them are seeded with
};

}  // namespace passnet::run
