#include "runtime/cpu/cell/starter.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>

#include "sandbox/descriptors.h"
#include "sandbox/process.h"

namespace passnet::runtime {

namespace {

/// What is asked of the starter, and its answer; with that to "start" go our end of the cell's socket and its pidfd.
struct Request {
  enum What : int32_t { Start, End } what = Start;
  int32_t id = 0;
};
struct Answer {
  int32_t id = 0;
  int32_t from_outside = 0;      // CellEnd::from_outside
  std::array<char, 500> text{};  // how it ended; of a start, why it failed
};

Answer answer_with(int id, const std::string& text) {
  Answer answer;
  answer.id = id;
  std::strncpy(answer.text.data(), text.c_str(), answer.text.size() - 1);
  return answer;
}

/// The other process: answers until its socket is closed.
class Starter {
 public:
  Starter(int socket, std::string program) : socket_(socket), program_(std::move(program)) {}

  [[noreturn]] void serve() {
    Request request;
    while (sandbox::receive_with_descriptors(socket_, &request, sizeof request)) {
      if (request.what == Request::Start)
        start();
      else
        end(request.id);
    }
    cells_.clear();
    ::_exit(0);
  }

 private:
  void start() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
      return answer(answer_with(-1, "no socket pair to be had"));
    const UniqueFd ours(ends[0]), theirs(ends[1]);
    sandbox::SpawnOptions spawn;
    spawn.argv = {program_};
    spawn.socket_fd = theirs.get();
    Result<sandbox::Process> started = sandbox::Process::spawn(spawn);
    if (!started) return answer(answer_with(-1, to_string(started.error())));
    const int id = next_++;
    const sandbox::Process& cell = cells_.emplace(id, std::move(*started)).first->second;
    answer(answer_with(id, ""), std::array{ours.get(), cell.pidfd()});
  }

  void end(int id) {
    const auto found = cells_.find(id);
    std::string how = "it is not known";
    bool from_outside = false;
    if (found != cells_.end()) {
      const auto ended = found->second.wait(std::chrono::milliseconds(0));
      how = sandbox::to_string(ended ? *ended : found->second.kill());
      from_outside = ended && sandbox::ended_from_outside(*ended);
      cells_.erase(found);
    }
    Answer told = answer_with(id, how);
    told.from_outside = from_outside ? 1 : 0;
    answer(told);
  }

  /// A worker that is gone is noticed by whoever receives next.
  void answer(const Answer& answer, std::span<const int> fds = {}) {
    (void)sandbox::send_with_descriptors(socket_, &answer, sizeof answer, fds);
  }

  int socket_;
  std::string program_;
  std::map<int, sandbox::Process> cells_;
  int next_ = 0;
};

}  // namespace

Result<std::unique_ptr<CellStarter>> CellStarter::fork_off() {
  std::error_code error;
  const std::filesystem::path program = beside_binary("passnet-cell");
  if (!std::filesystem::exists(program, error))
    return resource_error(fmt::format("'{}' is missing, which kernels of passes run in", program.string()))
        .with_hint("build it: make");
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return io_error("create", "a socket pair", errno);
  std::unique_ptr<CellStarter> starter(new CellStarter);
  starter->socket_ = UniqueFd(ends[0]);
  UniqueFd theirs(ends[1]);
  starter->process_ = ::fork();
  if (starter->process_ < 0) return resource_error("the machine gives no further process");
  if (starter->process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The worker's own socket: nobody must hold it but the worker, or its peer would not see it end.
    for (int fd = 3; fd < 64; ++fd) {
      if (fd != theirs.get()) ::close(fd);
    }
    (void)starter->socket_.release();
    Starter(theirs.get(), program.string()).serve();
  }
  return starter;
}

CellStarter::~CellStarter() {
  socket_ = UniqueFd();
  if (process_ > 0) ::waitpid(process_, nullptr, 0);
}

Result<StartedCell> CellStarter::start() {
  const Request request{Request::Start, 0};
  Answer answer;
  std::array<UniqueFd, 2> fds;
  if (!sandbox::send_with_descriptors(socket_.get(), &request, sizeof request, {}) ||
      !sandbox::receive_with_descriptors(socket_.get(), &answer, sizeof answer, fds))
    return resource_error("the process that starts cells is gone");
  if (answer.id < 0) return resource_error(fmt::format("a cell cannot be started: {}", answer.text.data()));
  return StartedCell{std::move(fds[0]), std::move(fds[1]), answer.id};
}

CellEnd CellStarter::end(int id) {
  const Request request{Request::End, id};
  Answer answer;
  if (!sandbox::send_with_descriptors(socket_.get(), &request, sizeof request, {}) ||
      !sandbox::receive_with_descriptors(socket_.get(), &answer, sizeof answer))
    // which is what PR_SET_PDEATHSIG does
    return {"killed by SIGKILL, as the process that started it has ended", true};
  return {answer.text.data(), answer.from_outside != 0};
}

}  // namespace passnet::runtime
