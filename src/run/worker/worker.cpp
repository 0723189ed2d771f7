#include "run/worker/worker.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/file/file.h"
#include "base/log.h"
#include "base/processors.h"
#include "base/text/strings.h"
#include "base/text/visible.h"
#include "protocol/messages.h"
#include "run/worker/host_text.h"
#include "wire/frame.h"

namespace passnet::run {

using namespace std::chrono_literals;

const char* to_string(Role role) {
  switch (role) {
    case Role::Reference: return "reference";
    case Role::Candidate: return "candidate";
    case Role::Package: return "package";
    case Role::Capture: return "capture";
  }
  return "unknown";
}

Result<std::filesystem::path> find_worker_binary() {
  const std::filesystem::path beside = beside_binary("passnet-worker");
  if (::access(beside.c_str(), X_OK) == 0) return beside;
  return resource_error(fmt::format("'{}' is missing", beside.string()))
      .with_hint("run 'make build'; it leaves all programs in build/bin");
}

Result<std::optional<int>> parse_device(const std::string& text) {
  if (text == "cpu") return std::optional<int>();
  if (text == "cuda") return std::optional(0);
  int index = 0;
  const char* const end = text.data() + text.size();
  if (text.starts_with("cuda:")) {
    if (const auto [rest, failed] = std::from_chars(text.data() + 5, end, index);
        failed == std::errc() && rest == end && index >= 0)
      return std::optional(index);
  }
  return bad_input(fmt::format("device {}: expected cpu, cuda or cuda:N", quoted(text)));
}

struct Worker::State {
  WorkerOptions options;
  sandbox::Process process;
  UniqueFd socket;
  UniqueFd kernel_process;  // a pidfd
  UniqueFd said;            // what it printed: no text of a graph or pass reaches the terminal raw
  int starts = 0;

  std::filesystem::path passes() const { return options.jailed ? options.jailed->passes : std::filesystem::path(); }
};

Worker::Worker(WorkerOptions options) : state_(std::make_unique<State>()) { state_->options = std::move(options); }
Worker::Worker(Worker&&) noexcept = default;
Worker& Worker::operator=(Worker&&) noexcept = default;
Worker::~Worker() {
  if (state_) stop();
}

bool Worker::alive() const { return state_->process.running() && state_->socket; }
pid_t Worker::pid() const { return state_->process.pid(); }
int Worker::starts() const { return state_->starts; }
DeviceSlot* Worker::slot() const { return state_->options.slot; }
const std::atomic<bool>* Worker::interrupted() const { return state_->options.interrupted; }
std::chrono::milliseconds Worker::start_timeout() const { return state_->options.start_timeout; }
bool Worker::runs_python() const { return state_->options.jailed.has_value(); }

namespace {
/// The process that a pidfd stands for, as we number it; nullopt: it has ended, or is out of our sight.
std::optional<pid_t> process_of(const UniqueFd& pidfd) {
  const auto info = read_file(fmt::format("/proc/self/fdinfo/{}", pidfd.get()), FileKind::System);
  const size_t field = info ? info->find("\nPid:") : std::string::npos;
  if (field == std::string::npos) return std::nullopt;
  const int pid = std::atoi(info->c_str() + field + 5);
  return pid > 0 ? std::optional<pid_t>(pid) : std::nullopt;
}
}  // namespace

void Worker::set_kernel_process(UniqueFd process) { state_->kernel_process = std::move(process); }

std::vector<pid_t> Worker::pids() const {
  std::vector<pid_t> pids{pid()};
  if (!state_->kernel_process) return pids;
  if (const auto kernels = process_of(state_->kernel_process)) pids.push_back(*kernels);
  return pids;
}

namespace {
// A processor for each thread, the same ones for every worker: on a busy machine the kernel else puts a thread team on
// one processor, where it spins for itself, and a call takes a thousand times as long.
void bind_threads(int threads, std::vector<int> processors, sandbox::SpawnOptions& spawn) {
  if (processors.empty()) processors = available_processors();
  if (processors.size() < static_cast<size_t>(threads)) return;
  processors.resize(static_cast<size_t>(threads));
  spawn.argv.push_back(fmt::format("--processors={}", fmt::join(processors, ",")));
  spawn.environment.push_back(fmt::format("GOMP_CPU_AFFINITY={}", fmt::join(processors, " ")));
}

Result<sandbox::SpawnOptions> passnet_worker(const WorkerOptions& options) {
  std::filesystem::path binary = options.binary;
  if (binary.empty()) {
    PASSNET_TRY(binary, find_worker_binary());
  }
  sandbox::SpawnOptions spawn;
  spawn.argv = {binary.string(), "--role", to_string(options.role), "--threads", std::to_string(options.threads)};
  // Exactly these: a worker must not see the caller's secrets or be steered by its settings.
  spawn.environment = {"LC_ALL=C", "PATH=/usr/bin:/bin", "HOME=/nonexistent"};
  if (options.gpu) {
    spawn.argv.insert(spawn.argv.end(), {"--gpu", std::to_string(*options.gpu)});
    spawn.gpu = true;
    // The driver must not write its cache of compiled kernels, and threads that have nothing to do must not spin where
    // those of another evaluation work.
    spawn.environment.insert(spawn.environment.end(), {"CUDA_CACHE_DISABLE=1", "OMP_WAIT_POLICY=passive"});
  }
  bind_threads(options.threads, options.processors, spawn);
  spawn.isolation = options.defences.jail ? sandbox::Isolation::Worker : sandbox::Isolation::None;
  if (options.role == Role::Package) {
    spawn.isolation = sandbox::Isolation::Jail;
    spawn.working_directory = "/tmp";  // where PyTorch unpacks packages, whatever TMPDIR says
  }
  if (!options.defences.jail) spawn.argv.emplace_back("--unconfined");
  if (!options.defences.operator_list) spawn.argv.emplace_back("--all-operators");
  return spawn;
}

sandbox::SpawnOptions jailed_program(const JailedProgram& program, const WorkerOptions& options) {
  sandbox::SpawnOptions spawn;
  spawn.argv = program.argv;
  spawn.environment = program.environment;
  spawn.argv.insert(spawn.argv.end(), {"--threads", std::to_string(options.threads)});
  bind_threads(options.threads, options.processors, spawn);
  spawn.gpu = options.gpu.has_value();
  spawn.isolation = sandbox::Isolation::Jail;
  spawn.working_directory = program.directory.string();
  spawn.visible = program.visible;
  spawn.opens_visible_alone = !program.visible.empty();
  spawn.proc = true;
  spawn.scratch_bytes = program.scratch_bytes;
  spawn.limits.group_bytes = program.memory_bytes;
  return spawn;
}

sandbox::SpawnOptions other_program(const std::vector<std::string>& program) {
  sandbox::SpawnOptions spawn;
  spawn.argv = program;
  for (char** variable = ::environ; *variable != nullptr; ++variable) spawn.environment.emplace_back(*variable);
  return spawn;
}

Result<sandbox::SpawnOptions> spawn_options(const WorkerOptions& options) {
  if (options.jailed) return jailed_program(*options.jailed, options);
  if (!options.program.empty()) return other_program(options.program);
  return passnet_worker(options);
}
}  // namespace

namespace {
/// A copy of the fork server's process where there can be one.
Result<sandbox::Process> start_process(const sandbox::SpawnOptions& spawn, sandbox::ForkServer* forks) {
  if (forks != nullptr && spawn.isolation == sandbox::Isolation::Worker && sandbox::ForkServer::available()) {
    if (!forks->running()) PASSNET_TRY_VOID(forks->start(spawn));
    Result<sandbox::Process> copy = forks->fork(spawn);
    if (copy) return copy;
    log::debug(fmt::format("{}; starting '{}'", to_string(copy.error()), spawn.argv[0]));
  }
  return sandbox::Process::spawn(spawn);
}
}  // namespace

Result<void> Worker::start() {
  State& state = *state_;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return io_error("create", "a socket pair", errno);
  UniqueFd ours(ends[0]), theirs(ends[1]);
  PASSNET_TRY(sandbox::SpawnOptions spawn, spawn_options(state.options));
  spawn.socket_fd = theirs.get();
  if (state.options.program.empty()) {
    PASSNET_TRY(state.said, wire::create_memory("what a worker prints", 0));
    spawn.output_fd = state.said.get();
  }
  // Its threads find, and may be bound to, those that it is started on.
  const OnProcessors own(state.options.processors);
  PASSNET_TRY(state.process, start_process(spawn, state.options.forks));
  log::debug(fmt::format("{}: started as process {}", to_string(state.options.role), state.process.pid()));
  state.socket = std::move(ours);
  ++state.starts;
  return {};
}

namespace {
Error lost_worker(std::string failure, std::string message) {
  Error error = resource_error(std::move(message)).with_failure(std::move(failure));
  error.worker_lost = true;
  return error;
}
constexpr size_t kToldBytes = 2000;

/// The end of what a worker printed.
std::string end_of(const UniqueFd& said) {
  struct stat info {};
  if (!said || ::fstat(said.get(), &info) != 0) return {};
  std::string text(std::min<size_t>(kToldBytes, static_cast<size_t>(info.st_size)), '\0');
  const ssize_t read = ::pread(said.get(), text.data(), text.size(), info.st_size - static_cast<off_t>(text.size()));
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, read)));
  return text;
}
}  // namespace

Error Worker::lose(std::string failure, std::string message) {
  if (const std::string said = end_of(state_->said); !said.empty())
    log::debug(fmt::format("{}: printed: {}", to_string(state_->options.role), visible(said)));
  state_->socket = UniqueFd();
  if (state_->process.running()) state_->process.kill();
  return lost_worker(std::move(failure), std::move(message));
}

namespace {
// The worker's own words about a failed request.
Error error_of(protocol::Refusal refusal) {
  Error error = bad_input(std::move(refusal.error), std::move(refusal.at)).with_failure(std::move(refusal.kind));
  error.hint = std::move(refusal.hint);
  if (!refusal.launch.empty()) error.notes.push_back(std::move(refusal.launch));
  if (refusal.code) error.code = Error::Code{refusal.code->list, refusal.code->launch, refusal.code->offset};
  if (error.failure == "resource") error.kind = Error::Kind::Resource;
  error.retry = refusal.retry;
  error.worker_lost = refusal.ends_worker;
  return error;
}

constexpr const char* kNoReply = "no reply";  // a failure of this file's own

// A frame as a reply; kNoReply when it is not one. passes: JailedProgram::passes.
Result<Json> read_reply(const std::string& text, const std::filesystem::path& passes) {
  Json json = try_parse_json(text);
  if (!passes.empty()) cut_host_texts(json, passes);
  const auto ok = json.is_object() ? json.find("ok") : json.end();
  if (ok == json.end() || !ok->is_boolean())
    return lost_worker(kNoReply, "expected an object with 'ok', true or false");
  if (ok->get<bool>()) return json;
  Result<protocol::Refusal> refusal = protocol::from_json<protocol::Refusal>(json);
  if (!refusal) return lost_worker(kNoReply, refusal.error().message);
  Error error = error_of(std::move(*refusal));
  return passes.empty() ? error : error_of_host_code(std::move(error), passes);
}
}  // namespace

// A candidate that is out of time is asked what it does: inside a kernel it answers as it does when that crashes.
std::optional<Error> Worker::last_words() {
  if (state_->options.role != Role::Candidate || ::kill(state_->process.pid(), SIGTERM) != 0) return std::nullopt;
  const Result<wire::Message> message = wire::receive_message(state_->socket.get(), 500ms);
  if (!message) return std::nullopt;
  Result<Json> reply = read_reply(message->json, state_->passes());
  if (reply || reply.error().failure != "timeout") return std::nullopt;
  return std::move(reply).error();
}

namespace {
// Waits until the socket has something to read, in slices, so that an interrupt is noticed. False when interrupted.
bool wait_readable(int socket, std::chrono::milliseconds timeout, const std::atomic<bool>* interrupted) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (std::chrono::steady_clock::now() < deadline) {
    if (interrupted && *interrupted) return false;
    pollfd ready{socket, POLLIN, 0};
    if (::poll(&ready, 1, 50) > 0) return true;
  }
  return true;
}
/// The requests whose answer is a time.
constexpr std::array<std::string_view, 5> kTimed = {"time", "time_on_sets", "profile", "read_clocks", "calibrate"};

/// The first request waits for the worker to come up; whoever starts it has taken a turn for that, or needs none.
DeviceSlot::Use take_turn(DeviceSlot* slot, std::string_view what) {
  if (what == "hello") return {};
  return std::ranges::find(kTimed, what) != kTimed.end() ? timing(slot) : computing(slot);
}
}  // namespace

Result<Reply> Worker::ask(const Json& request, const std::vector<int>& fds, std::chrono::milliseconds timeout) {
  const auto& what = request.at("do").get_ref<const std::string&>();
  using Ms = std::chrono::duration<double, std::milli>;
  const auto asked = std::chrono::steady_clock::now();
  const DeviceSlot::Use turn = take_turn(state_->options.slot, what);
  const auto begin = std::chrono::steady_clock::now();
  Result<Reply> reply = exchange(request, fds, timeout);
  const Ms took = std::chrono::steady_clock::now() - begin, waited = begin - asked;
  const std::string turn_text = waited > Ms(0.1) ? fmt::format(", after {:.1f} ms for its turn", waited.count()) : "";
  log::debug(fmt::format("{}: {} took {:.1f} ms{}", to_string(state_->options.role), what, took.count(), turn_text));
  return reply;
}

Result<Reply> Worker::exchange(const Json& request, const std::vector<int>& fds, std::chrono::milliseconds timeout) {
  const std::string what = request.at("do").get<std::string>();
  const std::string role = to_string(state_->options.role);
  if (!alive()) return lost_worker("crash", fmt::format("the {} worker is not running", role));

  const auto gone = [&] {
    const std::optional<sandbox::ExitStatus> status = state_->process.wait(2000ms);
    if (status && status->out_of_memory)
      return lose("memory",
                  fmt::format("the {} worker ended during '{}': its processes together need more than their "
                              "limit of {} of memory",
                              role, what, bytes_text(static_cast<double>(state_->options.jailed->memory_bytes))));
    const std::string how = status ? sandbox::to_string(*status) : "closed its connection";
    if (status && sandbox::ended_from_outside(*status))
      return lose("killed", fmt::format("the {} worker was ended by the machine during '{}': {}", role, what, how));
    return lose("crash", fmt::format("the {} worker ended during '{}': {}", role, what, how));
  };
  if (Result<void> sent = wire::send_message(state_->socket.get(), request.dump(), fds); !sent) return gone();
  const auto begin = std::chrono::steady_clock::now();
  if (!wait_readable(state_->socket.get(), timeout, state_->options.interrupted)) {
    stop();  // it may end what it has started itself
    return lose("interrupted", fmt::format("interrupted while the {} worker did '{}'", role, what));
  }
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  Result<wire::Message> message =
      wire::receive_message(state_->socket.get(), std::max<std::chrono::milliseconds>(timeout - waited, 1ms));
  if (!message) {
    const Error& error = message.error();
    if (error.kind == Error::Kind::Resource) {
      const std::optional<Error> told = last_words();
      Error lost = lose("timeout", fmt::format("the {} worker gave no answer to '{}' within {:g} s; it was killed",
                                               role, what, double(timeout.count()) / 1000));
      if (told) {
        lost.at = told->at;
        lost.notes = told->notes;
        lost.notes.insert(lost.notes.begin(), told->message);
        lost.code = told->code;
      }
      return lost;
    }
    if (error.kind == Error::Kind::BadInput)
      return lose("nonsense", fmt::format("the {} worker answered '{}' with {}", role, what, error.message));
    return gone();
  }
  Result<Json> json = read_reply(message->json, state_->passes());
  if (!json) {
    if (json.error().failure == kNoReply)
      return lose("nonsense",
                  fmt::format("the {} worker's answer to '{}' is not a reply: {}", role, what, json.error().message));
    // It ends of itself; nobody may ask it anything more.
    if (json.error().worker_lost) stop();
    return std::move(json).error();
  }
  return Reply{std::move(*json), std::move(message->fds)};
}

void Worker::pause() {
  if (state_->process.running()) ::kill(state_->process.pid(), SIGSTOP);
}
void Worker::resume() {
  if (state_->process.running()) ::kill(state_->process.pid(), SIGCONT);
}

void Worker::dismiss() {
  if (!state_->socket) return;
  (void)wire::send_message(state_->socket.get(), R"({"do": "exit"})");
  state_->socket = UniqueFd();
}

void Worker::stop(std::chrono::milliseconds patience) {
  if (!state_->process.running()) return;
  dismiss();
  if (!state_->process.wait(patience)) state_->process.kill();
}

}  // namespace passnet::run
