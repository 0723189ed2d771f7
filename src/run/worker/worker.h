// A worker process as control sees it: started, asked, and replaced when it is lost. Whatever a worker does (crash, hang,
// nonsense), the caller gets a Failure to put into a record.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "sandbox/process.h"
#include "wire/bundle.h"

namespace passnet::run {

enum class Role { Reference, Candidate };
const char* to_string(Role role);

struct WorkerOptions {
  std::filesystem::path binary;  // passnet-worker; empty: find_worker_binary()
  Role role = Role::Reference;
  int threads = 1;
  const std::atomic<bool>* interrupted = nullptr;  // when it becomes true, a request under way is given up
  std::optional<int> gpu;                          // the CUDA device that graphs run on; none: the CPU
  std::vector<int> processors = {};                // one for each thread; empty: of those this process may run on
};

/// "cpu", "cuda", "cuda:1" -> none, 0, 1. Errors: BadInput.
Result<std::optional<int>> parse_device(const std::string& text);

/// Processors this process may run on.
std::vector<int> available_processors();

/// passnet-worker beside the running binary. Errors: Resource with the command that builds it.
Result<std::filesystem::path> find_worker_binary();

/// Why a request got no good answer. kind is the record's error_kind: "crash", "killed" (from outside: the machine's memory is used
/// up, or somebody did it), "timeout", "nonsense", "interrupted" (the worker is gone),
/// or what the worker replied ("bad-input", "bad-pass", "unsupported", "unwritten-output", …; it lives on).
struct Failure {
  std::string kind;
  Error error;
  bool worker_lost = false;
  /// The code of a CPU kernel where it happened: bytes from where the object of that launch was loaded.
  struct Code {
    size_t list = 0, launch = 0;
    uint64_t offset = 0;
  };
  std::optional<Code> code = {};
  bool retry = false;  // in fresh workers the same may succeed: the GPU's memory was full, or a call to it failed
};
/// From an Error of ours.
Failure to_failure(Error error);

/// A value or why there is none. Dropping one is a compiler warning, as with Result; PASSNET_TRY works in functions that
/// return one, on Results too: an Error of ours becomes a Failure of its kind.
template <class T>
struct [[nodiscard]] Answer : tl::expected<T, Failure> {
  using tl::expected<T, Failure>::expected;
  Answer(Failure failure)
      : tl::expected<T, Failure>(tl::unexpect, std::move(failure)) {}  // NOLINT: implicit on purpose
  Answer(Error error)
      : tl::expected<T, Failure>(tl::unexpect, to_failure(std::move(error))) {}  // NOLINT: implicit on purpose
};

struct Reply {
  Json json;  // "ok" is true
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

  /// Sends `request` and waits for its reply. A lost worker is reaped and stays lost until start() is called again.
  /// PASSNET_LOG=debug shows how long each request took.
  Answer<Reply> ask(const Json& request, const std::vector<int>& fds, std::chrono::milliseconds timeout);

  /// Stops all its threads where they are, and lets them go on. A worker that is stopped gives no answer. Nothing happens to one
  /// that is not running.
  void pause();
  void resume();

  /// Ends the process: asks it to exit, kills it when it does not.
  void stop();

 private:
  Answer<Reply> exchange(const Json& request, const std::vector<int>& fds, std::chrono::milliseconds timeout);
  Failure lose(std::string kind, std::string message);
  std::optional<Failure> last_words();
  struct State;
  std::unique_ptr<State> state_;
};

/// Tensors in a bundle's memory, with the descriptor that holds them.
struct Bundle {
  std::vector<wire::Entry> entries;
  UniqueFd fd;
  int64_t size_bytes = 0;
};
/// The bundle a reply carries in field `key` and its first descriptor. A reply that lies about it is "nonsense".
Answer<Bundle> take_bundle(Reply& reply, const char* key);

}  // namespace passnet::run
