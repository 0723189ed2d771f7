#include "sandbox/fork_server.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "base/check.h"
#include "sandbox/descriptors.h"
#include "sandbox/isolation.h"

namespace passnet::sandbox {

namespace {

constexpr time_t kPatienceSeconds = 60;  // loading PyTorch takes a quarter of a second on a quiet machine

/// With it go the copy's socket and what it prints to.
struct Request {
  bool gpu = false;
  std::array<char, 8000> argv{};  // each ends with a NUL, and all with another
};
/// With it go the copy's pidfd, and the pipe that tells how it ended.
struct Answer {
  pid_t program = -1, supervisor = -1;
  std::array<char, 500> failure{};
};

Result<Request> request_of(const SpawnOptions& copy) {
  Request request{copy.gpu};
  size_t used = 0;
  for (const std::string& argument : copy.argv) {
    if (used + argument.size() + 2 > request.argv.size()) return resource_error("the arguments are too long");
    std::memcpy(request.argv.data() + used, argument.c_str(), argument.size() + 1);
    used += argument.size() + 1;
  }
  return request;
}

SpawnOptions spawn_options(const Request& request, int socket, int output) {
  SpawnOptions spawn;
  spawn.isolation = Isolation::Worker;
  spawn.gpu = request.gpu;
  spawn.socket_fd = socket;
  spawn.output_fd = output;
  for (const char* argument = request.argv.data(); *argument != '\0'; argument += std::strlen(argument) + 1)
    spawn.argv.emplace_back(argument);
  return spawn;
}

/// Facts of the server that its copies use.
struct Serving {
  int (*entry)(int argc, char** argv) = nullptr;
  std::span<char> shown;  // the memory of its arguments, which `ps` and /proc show
};
Serving& serving() {
  static Serving instance;
  return instance;
}

/// The main function of a copy.
int enter_copy(int argc, char** argv) {
  std::span<char> left = serving().shown;
  std::ranges::fill(left, '\0');
  for (const char* argument : std::span(argv, static_cast<size_t>(argc))) {
    const size_t size = std::strlen(argument) + 1;
    if (size > left.size()) break;
    std::copy_n(argument, size, left.data());
    left = left.subspan(size);
  }
  return serving().entry(argc, argv);
}

/// Returns: false when the other side is gone.
bool answer(int socket, Result<Process> copy) {
  Answer answer;
  if (!copy) {
    std::strncpy(answer.failure.data(), copy.error().message.c_str(), answer.failure.size() - 1);
    return send_with_descriptors(socket, &answer, sizeof answer, {});
  }
  const Process::Parts parts = std::move(*copy).release();
  answer.program = parts.program;
  answer.supervisor = parts.child;
  return send_with_descriptors(socket, &answer, sizeof answer, std::array{parts.pidfd.get(), parts.status.get()});
}

}  // namespace

bool ForkServer::available() { return namespaces_available(); }

Result<void> ForkServer::start(const SpawnOptions& copy) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return io_error("create", "a socket pair", errno);
  socket_ = UniqueFd(ends[0]);
  const UniqueFd theirs(ends[1]);
  const timeval patience{kPatienceSeconds, 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  SpawnOptions spawn;
  spawn.argv = copy.argv;
  spawn.argv.emplace_back(kServeForks);
  spawn.environment = copy.environment;
  spawn.socket_fd = theirs.get();
  spawn.output_fd = copy.output_fd;
  PASSNET_TRY(process_, Process::spawn(spawn));
  return {};
}

Result<Process> ForkServer::fork(const SpawnOptions& copy) {
  PASSNET_CHECK(running(), "the fork server has not been started");
  PASSNET_TRY(const Request request, request_of(copy));
  Answer answer;
  std::array<UniqueFd, 2> fds;
  if (!send_with_descriptors(socket_.get(), &request, sizeof request, std::array{copy.socket_fd, copy.output_fd}) ||
      !receive_with_descriptors(socket_.get(), &answer, sizeof answer, fds)) {
    process_.kill();
    return resource_error("the process that workers are copies of has ended");
  }
  if (answer.program < 0) return resource_error(answer.failure.data());
  return Process::adopt({answer.program, answer.supervisor, std::move(fds[0]), std::move(fds[1])});
}

void serve_forks(int argc, char** argv, int (*entry)(int argc, char** argv)) {
  constexpr int kSocket = 3;
  serving() = {entry, {argv[0], argv[argc - 1] + std::strlen(argv[argc - 1]) + 1}};
  Request request;
  for (bool open = true; open;) {
    std::array<UniqueFd, 2> fds;
    if (!receive_with_descriptors(kSocket, &request, sizeof request, fds)) return;
    SpawnOptions spawn = spawn_options(request, fds[0].get(), fds[1].get());
    spawn.entry = enter_copy;
    open = answer(kSocket, Process::spawn(spawn));
  }
}

}  // namespace passnet::sandbox
