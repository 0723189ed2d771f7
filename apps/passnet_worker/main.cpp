// passnet-worker: the data side of PassNet. Started by passnet with one end of a socket pair as descriptor 3;
// answers the requests of docs/protocol.md until it is told to exit or its peer is gone. Runs nothing on its
// own.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>

#include "base/log.h"
#include "base/memory.h"
#include "requests.h"
#include "runtime/device/fault_report.h"
#include "runtime/session/process.h"
#include "sandbox/fork_server.h"
#include "sandbox/isolation.h"

namespace {

using namespace passnet;

/// Answers requests until "exit" or the peer is gone. Returns the exit code.
int serve(int socket, worker::Requests& requests) {
  constexpr auto kForever = std::chrono::milliseconds(std::numeric_limits<int32_t>::max());
  for (bool done = false; !done;) {
    Result<wire::Message> message = wire::receive_message(socket, kForever);
    if (!message) {
      if (message.error().kind == Error::Kind::Resource) continue;  // nothing asked for 24 days
      const bool left = message.error().kind == Error::Kind::Io;
      if (!left) log::error(message.error().message);
      return left ? 0 : 3;
    }
    std::vector<UniqueFd> fds;
    const std::string reply = requests.answer(std::move(*message), fds, &done);
    std::vector<int> numbers;
    for (const UniqueFd& fd : fds) numbers.push_back(fd.get());
    if (!wire::send_message(socket, reply, numbers)) return 0;
  }
  return 0;
}

runtime::Role role_of(const std::string& name) {
  if (name == "candidate") return runtime::Role::Candidate;
  return name == "package" ? runtime::Role::Package : runtime::Role::Reference;
}

/// Before anything else: what starts cells must be forked from a process of one thread that is not confined yet.
Result<void> fork_starter(bool wanted, runtime::RuntimeOptions& options) {
  if (wanted) {
    PASSNET_TRY(options.cells, runtime::CellStarter::fork_off());
  }
  return {};
}

/// A candidate loads kernels, and CUDA its libraries when they are first used. Memory of the GPU is shared by the
/// reference, for which the driver opens a device. What runs packages writes them to files, where Landlock lets it.
Result<void> confine(runtime::Role role, bool gpu) {
  if (role == runtime::Role::Package) return sandbox::enter_host_code_filter({.gpu = gpu, .makes_memory = true});
  if (!gpu) limit_own_memory();  // CUDA reserves more addresses than any machine has memory
  const bool candidate = role == runtime::Role::Candidate;
  return sandbox::enter_worker_filter({.gpu = gpu, .opens_files = candidate || gpu, .shares_gpu = gpu && !candidate});
}

int run(int argc, char** argv) {
  CLI::App app{"The worker process of passnet; it is started by passnet, not by hand."};
  std::string role = "reference";
  int threads = 1;
  std::vector<int> processors;
  int socket = 3, gpu = -1;
  bool unconfined = false, all_operators = false;
  app.add_option("--role", role, "reference, candidate, or package: a candidate that runs a compiler's packages")
      ->check(CLI::IsMember({"reference", "candidate", "package"}));
  app.add_option("--threads", threads, "threads for operators and kernels")->check(CLI::Range(1, 1024));
  app.add_option("--processors", processors, "bind each thread to one of these; default: bind none")->delimiter(',');
  app.add_option("--gpu", gpu, "the CUDA device that graphs run on; default: the CPU")->check(CLI::Range(0, 127));
  app.add_option("--socket", socket, "descriptor of the socket to passnet");
  app.add_flag("--unconfined", unconfined, "without a filter of system calls; for selftest");
  app.add_flag("--all-operators", all_operators, "graphs may call any operator of ATen; for selftest");
  app.footer("Example: passnet-worker --role reference --threads 2 3<>SOCKET");
  CLI11_PARSE(app, argc, argv);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  runtime::RuntimeOptions options{threads, processors, gpu < 0 ? std::nullopt : std::optional(gpu), nullptr};
  Result<void> started = fork_starter(role == "candidate" && gpu < 0, options);
  if (started) started = runtime::start_runtime(std::move(options));
  worker::Requests requests(role_of(role), std::move(started),
                            all_operators ? fx::Operators::All : fx::Operators::Listed);
  if (role == "candidate") runtime::install_fault_report(socket);
  if (const Result<void> confined = unconfined ? Result<void>() : confine(role_of(role), gpu >= 0); !confined) {
    log::error(to_string(confined.error()));
    return 4;
  }
  return serve(socket, requests);
}

}  // namespace

int main(int argc, char** argv) {
  int code = 0;
  if (std::string_view(argv[argc - 1]) == sandbox::kServeForks) {
    if (std::ranges::find(argv, argv + argc, std::string_view("--gpu")) != argv + argc) runtime::preload_for_gpu();
    sandbox::serve_forks(argc, argv, run);
  } else {
    code = run(argc, argv);
  }
  std::fflush(nullptr);
  std::_Exit(code);  // without PyTorch's static destructors, which take as long as a third of its start
}
