#include "sandbox/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/landlock.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "base/check.h"
#include "base/file/paths.h"
#include "sandbox/child.h"
#include "sandbox/empty_root.h"
#include "sandbox/isolation.h"

namespace passnet::sandbox {
namespace {

using Clock = std::chrono::steady_clock;

/// Most files in a working directory in memory, which does not count what a file needs besides its bytes.
constexpr int kMostFiles = 65536;

struct SignalName {
  int number;
  const char* name;
  const char* meaning;
};
constexpr SignalName kSignals[] = {
    {SIGSEGV, "SIGSEGV", "invalid memory access"},
    {SIGBUS, "SIGBUS", "memory access beyond the end of its file"},
    {SIGFPE, "SIGFPE", "integer division by zero or overflow"},
    {SIGILL, "SIGILL", "illegal instruction"},
    {SIGTRAP, "SIGTRAP", "trap instruction"},
    {SIGABRT, "SIGABRT", "aborted itself"},
    {SIGKILL, "SIGKILL", "killed from outside"},
    {SIGTERM, "SIGTERM", "asked to end"},
    {SIGINT, "SIGINT", "interrupted"},
    {SIGPIPE, "SIGPIPE", "nobody reads its output"},
    {SIGXCPU, "SIGXCPU", "CPU time limit"},
    {SIGXFSZ, "SIGXFSZ", "file size limit"},
    {SIGSYS, "SIGSYS", "forbidden system call"},
};

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& text : strings) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

Error no_resource(const char* what) { return resource_error(fmt::format("cannot {}: {}", what, strerror(errno))); }

struct Pair {
  UniqueFd ours, theirs;
};
/// ours reads, theirs writes.
Result<Pair> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return no_resource("make a pipe");
  return Pair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}
/// A socket pair whose messages carry the sender's process number as we see it.
Result<Pair> make_report_socket() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return no_resource("make a socket pair");
  const int on = 1;
  ::setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  return Pair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// One message; nullopt at the end. Fills `sender`.
std::optional<ChildReport> receive_report(int socket, pid_t& sender) {
  ChildReport report;
  iovec part{&report, sizeof report};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got;
  do got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof report)) return std::nullopt;
  if (const cmsghdr* header = CMSG_FIRSTHDR(&message); header && header->cmsg_type == SCM_CREDENTIALS) {
    ucred sent;
    std::copy_n(CMSG_DATA(header), sizeof sent, reinterpret_cast<unsigned char*>(&sent));
    sender = sent.pid;
  }
  return report;
}

Error start_error(const ChildReport& report, const SpawnOptions& options) {
  switch (report.step) {
    case ChildReport::Directory: return io_error("enter directory", options.working_directory, report.error);
    case ChildReport::Execute: return io_error("start", options.argv[0], report.error);
    case ChildReport::Descriptors:
      return resource_error(fmt::format("cannot start '{}': descriptors: {}", options.argv[0], strerror(report.error)));
    default: return resource_error(fmt::format("cannot confine '{}': {}", options.argv[0], strerror(report.error)));
  }
}

int poll_ms(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 1'000'000'000));
}

Clock::time_point deadline_in(std::chrono::milliseconds timeout) {
  return Clock::now() + std::min(timeout, std::chrono::milliseconds(1'000'000'000));
}

/// Appends what can be read now, keeping at most `limit` bytes in all. False at the end of the stream.
bool drain(int fd, size_t limit, std::string* output) {
  std::array<char, 65536> buffer;
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  if (got == 0) return false;
  if (output && output->size() < limit)
    output->append(buffer.data(), std::min(static_cast<size_t>(got), limit - output->size()));
  return true;
}

/// A name of SpawnOptions::visible, which may go through links, and the file behind it.
struct Name {
  std::string target, source;
};

/// The order in which a directory is followed by what is in it.
bool nested_before(const Name& a, const Name& b) {
  const auto rank = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c); };
  return std::ranges::lexicographical_compare(a.target, b.target, {}, rank, rank);
}

/// Leaves out names below a directory that is shown itself. A link among these is replaced by the name of its file.
std::vector<Name> in_sight(std::vector<Name> names) {
  for (bool changed = true; changed;) {
    changed = false;
    std::ranges::sort(names, nested_before);
    std::vector<Name> kept;
    std::string directory;  // that is shown, with a slash
    for (Name& name : names) {
      const bool below = !directory.empty() && name.target.starts_with(directory);
      const bool again = !kept.empty() && kept.back().target == name.target;
      if (again || (below && name.target == name.source)) continue;
      changed = changed || below;
      if (below) name.target = name.source;
      kept.push_back(std::move(name));
      if (!below && directory_exists(kept.back().source)) directory = kept.back().target + "/";
    }
    names = std::move(kept);
  }
  return names;
}

/// The root of its own that a child gets; without entries it gets none.
struct Root {
  std::string directory;  // the working directory, by a name without links
  std::string memory;     // RootPlan::memory; empty: none
  RootPlan::Proc proc = RootPlan::None;
  std::vector<Name> names;
  std::vector<RootEntry> entries;  // point into `names`

  RootPlan plan() const {
    return {entries.data(), entries.size(), directory.c_str(), memory.empty() ? nullptr : memory.c_str(), proc};
  }
};

RootEntry::Kind kind_of(const std::string& source) {
  if (directory_exists(source)) return RootEntry::Directory;
  return std::filesystem::is_character_file(source) ? RootEntry::Device : RootEntry::File;
}

Result<std::vector<Name>> resolve(const std::vector<std::string>& visible) {
  std::vector<Name> names;
  for (const std::string& path : visible) {
    std::error_code failure;
    const std::filesystem::path source = std::filesystem::canonical(path, failure);
    if (failure) return io_error("find", path, failure.value());
    names.push_back({std::filesystem::path(path).lexically_normal().string(), source.string()});
  }
  return in_sight(std::move(names));
}

Result<Root> root_of(const SpawnOptions& options) {
  Root root;
  if (options.isolation != Isolation::Jail || options.visible.empty() || !own_root_available(options.gpu)) return root;
  std::error_code failure;
  root.directory = std::filesystem::canonical(options.working_directory, failure).string();
  if (failure) return io_error("enter directory", options.working_directory, failure.value());
  PASSNET_TRY(root.names, resolve(options.visible));
  for (const Name& name : root.names)
    root.entries.push_back({name.source.c_str(), name.target.c_str(), kind_of(name.source)});
  if (options.scratch_bytes > 0)
    root.memory = fmt::format("mode=700,size={},nr_inodes={}", options.scratch_bytes, kMostFiles);
  if (options.gpu)
    root.proc = RootPlan::Writable;
  else if (options.proc && own_proc_available())
    root.proc = RootPlan::ReadOnly;
  return root;
}

}  // namespace

bool own_root_available(bool gpu) {
  return namespaces_available() && empty_root_available() && (!gpu || own_proc_available());
}

std::string to_string(const ExitStatus& status) {
  if (status.exited) return fmt::format("exit code {}", status.code);
  for (const SignalName& known : kSignals) {
    if (known.number == status.code) return fmt::format("killed by {} ({})", known.name, known.meaning);
  }
  return fmt::format("killed by signal {}", status.code);
}

bool ended_from_outside(const ExitStatus& status) {
  return !status.exited && (status.code == SIGKILL || status.code == SIGTERM);
}

Process::Process(Process&& other) noexcept { *this = std::move(other); }

Process& Process::operator=(Process&& other) noexcept {
  if (this == &other) return *this;
  if (running()) kill();
  pid_ = std::exchange(other.pid_, -1);
  child_ = std::exchange(other.child_, -1);
  pidfd_ = std::move(other.pidfd_);
  status_ = std::move(other.status_);
  output_ = std::move(other.output_);
  group_ = std::exchange(other.group_, std::nullopt);
  return *this;
}

Process::~Process() {
  if (running()) kill();
}

namespace {
/// The part of a child's plan that confines it.
ChildPlan confinement_of(const SpawnOptions& options, bool confined, bool hides_by_landlock) {
  ChildPlan plan;
  plan.limits = options.limits;
  plan.confined = confined;
  // CUDA's driver looks at its own threads in /proc, which must then be that of the namespace.
  plan.supervised = confined && namespaces_available() && (!options.gpu || own_proc_available());
  plan.gpu = options.gpu && confined;
  plan.writes = landlock_writes();
  if (plan.gpu) plan.own_entry |= LANDLOCK_ACCESS_FS_WRITE_FILE;
  if (hides_by_landlock) plan.own_entry |= LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
  return plan;
}

/// A child that carries out the plan; negative: none could be made.
pid_t make_child(const ChildPlan& plan) {
  const long mounts = plan.gpu || plan.root.count > 0 ? CLONE_NEWNS : 0;
  const long namespaces = plan.supervised ? CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC | mounts : 0;
  const long sibling = plan.entry ? CLONE_PARENT : 0;
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, namespaces | sibling | SIGCHLD, 0, 0, 0, 0));
  if (child == 0) run_child(plan);
  return child;
}
}  // namespace

Result<Process> Process::spawn(const SpawnOptions& options) {
  const bool confined = options.isolation != Isolation::None;
  std::vector<char*> argv = pointers(options.argv);
  const std::vector<char*> environment = pointers(options.environment);
  const std::string uid_map = fmt::format("{0} {0} 1", ::geteuid()), gid_map = fmt::format("{0} {0} 1", ::getegid());
  Process process;
  PASSNET_TRY(Pair report, make_report_socket());
  PASSNET_TRY(Pair status, make_pipe());
  UniqueFd output(::fcntl(options.output_fd >= 0 ? options.output_fd : STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  if (options.capture_output) {
    PASSNET_TRY(Pair pipe, make_pipe());
    output = std::move(pipe.theirs);
    process.output_ = std::move(pipe.ours);
  }
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return io_error("open", "/dev/null", errno);
  PASSNET_TRY(const Root root, root_of(options));
  const bool hides_by_landlock = options.opens_visible_alone && root.entries.empty();
  UniqueFd ruleset;
  if (confined) {
    ruleset = no_write_ruleset(options.isolation == Isolation::Jail ? options.working_directory : "", options.gpu,
                               hides_by_landlock ? &options.visible : nullptr);
  }
  const std::string& working_directory = root.entries.empty() ? options.working_directory : root.directory;
  if (options.limits.group_bytes > 0) process.group_ = MemoryGroup::make(options.limits.group_bytes);

  ChildPlan plan = confinement_of(options, confined, hides_by_landlock);
  plan.argv = argv.data();
  plan.entry = options.entry;
  PASSNET_CHECK(!plan.entry || plan.supervised, "a copy of a process has namespaces of its own");
  plan.environment = environment.data();
  plan.working_directory = working_directory.empty() ? nullptr : working_directory.c_str();
  plan.root = root.plan();
  if (process.group_) plan.group = process.group_->entrance();
  plan.uid_map = uid_map.c_str();
  plan.gid_map = gid_map.c_str();
  plan.landlock = ruleset.get();
  plan.socket = options.socket_fd;
  plan.input = null.get();
  plan.output = output ? output.get() : null.get();
  plan.report = report.theirs.get();
  plan.status = status.theirs.get();
  plan.parent = ::getpid();

  process.child_ = make_child(plan);
  if (process.child_ < 0) return no_resource("make a process");

  process.pid_ = process.child_;
  process.pidfd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, process.child_, 0)));
  if (!process.pidfd_) return no_resource("watch a process");
  if (plan.supervised) process.status_ = std::move(status.ours);
  report.theirs = UniqueFd();
  pid_t sender = process.child_;
  while (const auto message = receive_report(report.ours.get(), sender)) {
    if (message->step != ChildReport::Started) return start_error(*message, options);
    process.pid_ = sender;
  }
  return process;
}

Process::Parts Process::release() && {
  return {std::exchange(pid_, -1), std::exchange(child_, -1), std::move(pidfd_), std::move(status_)};
}

Process Process::adopt(Parts parts) {
  Process process;
  process.pid_ = parts.program;
  process.child_ = parts.child;
  process.pidfd_ = std::move(parts.pidfd);
  process.status_ = std::move(parts.status);
  return process;
}

std::optional<ExitStatus> Process::wait(std::chrono::milliseconds timeout) {
  PASSNET_CHECK(running(), "a process is waited for once");
  const auto deadline = deadline_in(timeout);
  pollfd watched{pidfd_.get(), POLLIN, 0};
  int ready;
  do ready = ::poll(&watched, 1, poll_ms(deadline));
  while ((ready < 0 && errno == EINTR) || (ready == 0 && Clock::now() < deadline));
  if (ready <= 0) return std::nullopt;
  return reap();
}

ExitStatus Process::kill() {
  PASSNET_CHECK(running(), "a process that has been reaped cannot be killed");
  if (status_)
    ::kill(child_, SIGKILL);  // the supervisor takes its whole namespace with it
  else
    ::kill(-child_, SIGKILL);
  return reap();
}

std::optional<ExitStatus> Process::wait_output(std::chrono::milliseconds timeout, size_t limit_bytes,
                                               std::string* output, const std::atomic<bool>* interrupted) {
  constexpr int kSliceMs = 50;  // between two looks at `interrupted`
  const auto deadline = deadline_in(timeout);
  bool open = static_cast<bool>(output_);
  while (open) {
    std::array<pollfd, 2> watched{{{output_.get(), POLLIN, 0}, {pidfd_.get(), POLLIN, 0}}};
    const int ready = ::poll(watched.data(), watched.size(), std::min(poll_ms(deadline), kSliceMs));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 && (Clock::now() >= deadline || (interrupted && *interrupted))) {
      kill();
      return std::nullopt;
    }
    if (watched[0].revents)
      open = drain(output_.get(), limit_bytes, output);
    else if (watched[1].revents)
      break;  // ended, and the pipe is empty; a process that left the group may hold it open
  }
  const auto status = wait(std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()));
  if (!status) kill();
  return status;
}

ExitStatus Process::reap() {
  siginfo_t info;
  while (::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  ::kill(-child_, SIGKILL);  // before reaping, while the group's number cannot be anyone else's
  int status = 0;
  struct rusage usage {};
  while (::wait4(child_, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  int program_status;
  if (status_ && ::read(status_.get(), &program_status, sizeof program_status) == sizeof program_status)
    status = program_status;
  ExitStatus out;
  out.exited = WIFEXITED(status);
  out.code = out.exited ? WEXITSTATUS(status) : WTERMSIG(status);
  out.max_rss_bytes = int64_t{usage.ru_maxrss} * 1024;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  out.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  out.out_of_memory = group_ && group_->was_exceeded();
  group_.reset();
  pid_ = child_ = -1;
  pidfd_ = UniqueFd();
  status_ = UniqueFd();
  output_ = UniqueFd();
  return out;
}

}  // namespace passnet::sandbox
