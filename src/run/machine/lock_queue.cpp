#include "run/machine/lock_queue.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/json/json.h"
#include "base/text/strings.h"
#include "base/text/visible.h"

namespace passnet::run {

namespace {

constexpr std::string_view kWaits = "passnet-waits-", kHolds = "passnet-holds-";
constexpr size_t kMostTicketBytes = 1 << 15;  // of a ticket
constexpr size_t kMostThings = 1 << 12;       // of a kind
constexpr size_t kMostCommand = 80;           // characters that a message shows

/// Of the machine, since it started: the same for all processes, and never set back.
std::chrono::nanoseconds since_boot() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::string duration_text(std::chrono::nanoseconds time) {
  const auto seconds = std::max<int64_t>(std::chrono::duration_cast<std::chrono::seconds>(time).count(), 0);
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min", seconds / 60);
  return fmt::format("{} h", seconds / 3600);
}

/// "user mallory, " where it is not this one.
std::string other_user(unsigned uid) {
  return uid == ::geteuid() ? "" : fmt::format("user {}, ", visible_line(user_name(uid)));
}

/// Whether a living process has locked it.
bool is_locked(const UniqueFd& file) {
  if (::flock(file.get(), LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  ::flock(file.get(), LOCK_UN);
  return false;
}

std::string content_of(const std::string& command, const ThingsByKind& things) {
  Json json{{"command", command}, {"pid", ::getpid()}, {"since_ns", since_boot().count()}, {"things", Json::object()}};
  for (const auto& [kind, one] : things) json["things"][kind] = {{"of", one.of}, {"count", one.count}};
  return dump(json) + "\n";
}

/// nullopt: no ticket.
std::optional<Ticket> read_ticket(const UniqueFd& file, const std::string& name) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0 || info.st_size <= 0 || info.st_size > static_cast<off_t>(kMostTicketBytes))
    return std::nullopt;
  std::string text(static_cast<size_t>(info.st_size), '\0');
  if (::pread(file.get(), text.data(), text.size(), 0) != info.st_size) return std::nullopt;
  const Json json = try_parse_json(text);
  Ticket ticket;
  ticket.name = name;
  ticket.uid = info.st_uid;
  try {
    ticket.command = json.at("command").get<std::string>();
    ticket.pid = json.at("pid").get<int>();
    ticket.since = std::chrono::nanoseconds(json.at("since_ns").get<int64_t>());
    for (const auto& [kind, one] : json.at("things").items()) {
      Things things{one.at("of").get<std::vector<int>>(), one.at("count").get<size_t>()};
      if (things.of.size() > kMostThings) return std::nullopt;
      ticket.things[kind] = std::move(things);
    }
  } catch (const Json::exception&) {
    return std::nullopt;
  }
  return ticket;
}

struct FileLocker {
  int pid = 0;
  bool alone = false;
};

/// "1: FLOCK  ADVISORY  WRITE 4711 00:1a:1234 0 EOF", where it is of that file: 4711, alone.
std::optional<FileLocker> locker_in(const char* line, const struct stat& file) {
  std::array<char, 16> kind{}, access{};
  FileLocker locker;
  unsigned major = 0, minor = 0;
  unsigned long inode = 0;  // NOLINT: as sscanf has it
  const int read = std::sscanf(line, "%*d: %15s %*s %15s %d %x:%x:%lu", kind.data(), access.data(), &locker.pid, &major,
                               &minor, &inode);
  const bool is_it = read == 6 && std::strcmp(kind.data(), "FLOCK") == 0 && major == ::major(file.st_dev) &&
                     minor == ::minor(file.st_dev) && inode == file.st_ino;
  locker.alone = std::strcmp(access.data(), "WRITE") == 0;
  return is_it && locker.pid > 0 ? std::optional(locker) : std::nullopt;
}

}  // namespace

bool overlap(const ThingsByKind& a, const ThingsByKind& b) {
  return std::ranges::any_of(a, [&](const auto& one) {
    const auto other = b.find(one.first);
    return other != b.end() && std::ranges::find_first_of(one.second.of, other->second.of) != one.second.of.end();
  });
}

std::string Ticket::text() const {
  return fmt::format("{} ({}pid {}, since {})", quoted(command, kMostCommand), other_user(uid), pid,
                     duration_text(since_boot() - since));
}

Result<OwnTicket> OwnTicket::publish(const LockDirectory& directory, State state, const std::string& command,
                                     const ThingsByKind& things) {
  OwnTicket ticket;
  PASSNET_TRY(ticket.directory_, duplicate(directory.fd.get(), directory.path.string()));
  while (!ticket.file_) {
    ticket.name_ =
        fmt::format("{}{:020}-{}", state == State::Waits ? kWaits : kHolds, since_boot().count(), ::gettid());
    PASSNET_TRY(std::optional<UniqueFd> file, publish_locked(directory, ticket.name_, content_of(command, things)));
    if (file) ticket.file_ = std::move(*file);
  }
  return ticket;
}

OwnTicket& OwnTicket::operator=(OwnTicket&& other) noexcept {
  if (this != &other) {
    end();
    directory_ = std::move(other.directory_);
    file_ = std::move(other.file_);
    name_ = std::move(other.name_);
  }
  return *this;
}

void OwnTicket::end() {
  if (!file_) return;
  ::unlinkat(directory_.get(), name_.c_str(), 0);
  // Not by closing: a process that was forked meanwhile has the descriptor, too.
  ::flock(file_.get(), LOCK_UN);
  file_ = UniqueFd();
}

Result<LockQueue> read_queue(const LockDirectory& directory) {
  const int entries = ::openat(directory.fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> list(entries < 0 ? nullptr : ::fdopendir(entries), &::closedir);
  if (!list) return io_error("list", directory.path.string(), errno);
  LockQueue queue;
  size_t seen = 0;
  while (const dirent* const entry = ::readdir(list.get())) {
    const std::string name = entry->d_name;
    const bool waits = name.starts_with(kWaits);
    if (!waits && !name.starts_with(kHolds)) continue;
    if (++seen > kMostTickets) return LockQueue{};
    const UniqueFd file = look_at_lock_file(directory, name);
    if (!file) continue;
    std::optional<Ticket> ticket = read_ticket(file, name);
    if (!is_locked(file)) {
      // It was locked before it had this name, so its process has ended. Others' files cannot be removed.
      if (!ticket || ticket->uid == ::geteuid() || ::geteuid() == 0) ::unlinkat(directory.fd.get(), name.c_str(), 0);
    } else if (ticket) {
      (waits ? queue.waiting : queue.holding).push_back(std::move(*ticket));
    }
  }
  std::ranges::sort(queue.waiting, {}, &Ticket::name);
  std::ranges::sort(queue.holding, {}, &Ticket::name);
  return queue;
}

int locking_process(const UniqueFd& file) {
  struct stat info {};
  const std::unique_ptr<FILE, int (*)(FILE*)> locks(std::fopen("/proc/locks", "re"), &std::fclose);
  if (!locks || ::fstat(file.get(), &info) != 0) return 0;
  std::array<char, 256> line{};
  FileLocker found;
  while (!found.alone && std::fgets(line.data(), line.size(), locks.get()) != nullptr) {
    if (const std::optional<FileLocker> locker = locker_in(line.data(), info)) found = *locker;
  }
  return found.pid;
}

bool is_of(const Ticket& ticket, int pid) {
  struct stat info {};
  const bool is_known = ::stat(fmt::format("/proc/{}", pid).c_str(), &info) == 0;
  return ticket.pid == pid && (!is_known || info.st_uid == ticket.uid);
}

std::string describe_process(int pid) {
  const std::string place = fmt::format("/proc/{}", pid);
  struct stat info {};
  const std::string user = ::stat(place.c_str(), &info) == 0 ? other_user(info.st_uid) : "";
  std::string command = "?";
  if (const Result<std::string> text = read_file(place + "/cmdline", FileKind::System); text && !text->empty()) {
    command = text->substr(0, text->find_last_not_of('\0') + 1);
    std::ranges::replace(command, '\0', ' ');
  }
  return fmt::format("{} ({}pid {})", quoted(command, kMostCommand), user, pid);
}

}  // namespace passnet::run
