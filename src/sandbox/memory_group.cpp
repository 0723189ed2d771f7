#include "sandbox/memory_group.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/text/strings.h"

namespace passnet::sandbox {
namespace {

using namespace std::chrono_literals;

constexpr const char* kPrefix = "passnet-";
constexpr auto kAbandonedAfter = 1min;  // a group is joined at once: one without processes is then nobody's
/// Names of the limit in version 2 and in version 1; the second of each also counts what is swapped out.
constexpr std::array<std::array<const char*, 2>, 2> kLimits = {
    {{"memory.max", "memory.swap.max"}, {"memory.limit_in_bytes", "memory.memsw.limit_in_bytes"}}};

bool write_text(const fs::path& file, const std::string& text) {
  const UniqueFd out(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return out && ::write(out.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::string text_of(const fs::path& file) { return read_file(file, FileKind::System).value_or(""); }

/// A line of /proc/self/mountinfo: "41 31 0:38 ROOT POINT options - type source options".
struct Mount {
  std::string root, point;
  bool unified = false;
};
std::vector<Mount> memory_mounts() {
  std::vector<Mount> mounts;
  const std::string text = text_of("/proc/self/mountinfo");
  for (const std::string_view line : split(text, '\n')) {
    const size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const auto fields = split(line.substr(0, dash), ' ');
    const auto rest = split(line.substr(dash + 3), ' ');
    if (fields.size() < 6 || rest.size() < 3) continue;
    const bool unified = rest[0] == "cgroup2";
    if (unified || (rest[0] == "cgroup" && ("," + std::string(rest[2]) + ",").find(",memory,") != std::string::npos))
      mounts.push_back({std::string(fields[3]), std::string(fields[4]), unified});
  }
  return mounts;
}

/// Our group in the hierarchy of version 2, or in that of version 1 that counts memory; empty: there is none.
std::string own_group(bool unified) {
  const std::string text = text_of("/proc/self/cgroup");
  for (const std::string_view line : split(text, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() < 3) continue;
    const std::string controllers = "," + std::string(fields[1]) + ",";
    if (unified ? fields[0] == "0" && fields[1].empty() : controllers.find(",memory,") != std::string::npos)
      return std::string(line.substr(fields[0].size() + fields[1].size() + 2));
  }
  return "";
}

/// Directories in which a group may be made.
std::vector<fs::path> find_parents() {
  std::vector<fs::path> parents;
  for (const Mount& mount : memory_mounts()) {
    std::string group = own_group(mount.unified);
    if (group.empty()) continue;
    if (mount.root != "/" && group.starts_with(mount.root)) group.erase(0, mount.root.size());
    const fs::path own = fs::path(mount.point + "/" + group).lexically_normal();
    parents.push_back(own);
    if (mount.unified && group.size() > 1) parents.push_back((own / "..").lexically_normal());
  }
  return parents;
}

/// Removes groups of callers that were killed before they could do so.
void remove_abandoned(const fs::path& parent) {
  std::error_code failure;
  for (fs::directory_iterator entry(parent, failure), end; !failure && entry != end; entry.increment(failure)) {
    struct stat info {};
    if (!entry->path().filename().string().starts_with(kPrefix) || ::stat(entry->path().c_str(), &info) != 0) continue;
    const auto made = std::chrono::system_clock::from_time_t(info.st_mtime);
    if (std::chrono::system_clock::now() - made > kAbandonedAfter) ::rmdir(entry->path().c_str());
  }
}

const std::vector<fs::path>& parents() {
  static const std::vector<fs::path> found = [] {
    std::vector<fs::path> all = find_parents();
    for (const fs::path& parent : all) remove_abandoned(parent);
    return all;
  }();
  return found;
}

bool set_limit(const fs::path& group, int64_t bytes) {
  for (const auto& [memory, swap] : kLimits) {
    if (!write_text(group / memory, std::to_string(bytes))) continue;
    // The file is missing on a machine without swap.
    (void)write_text(group / swap, std::string_view(swap) == "memory.swap.max" ? "0" : std::to_string(bytes));
    return true;
  }
  return false;
}

}  // namespace

std::optional<MemoryGroup> MemoryGroup::make(int64_t bytes) {
  static std::atomic<int> number{0};
  const std::string name = fmt::format("{}{}-{}", kPrefix, ::getpid(), ++number);
  for (const fs::path& parent : parents()) {
    if (::mkdir((parent / name).c_str(), 0755) != 0) continue;
    MemoryGroup group(parent / name);
    if (set_limit(group.directory_, bytes) && group.entrance_) return group;
  }
  return std::nullopt;
}

MemoryGroup::MemoryGroup(fs::path directory)
    : directory_(std::move(directory)),
      entrance_(::open((directory_ / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC)) {}

MemoryGroup::MemoryGroup(MemoryGroup&& other) noexcept { *this = std::move(other); }

MemoryGroup& MemoryGroup::operator=(MemoryGroup&& other) noexcept {
  if (this == &other) return *this;
  remove();
  directory_ = std::exchange(other.directory_, {});
  entrance_ = std::move(other.entrance_);
  return *this;
}

MemoryGroup::~MemoryGroup() { remove(); }

void MemoryGroup::remove() {
  if (directory_.empty()) return;
  entrance_ = UniqueFd();
  for (int tries = 0; ::rmdir(directory_.c_str()) != 0 && tries < 100; ++tries) {
    const std::string left = text_of(directory_ / "cgroup.procs");
    for (const std::string_view line : split(left, '\n')) {
      if (const int pid = std::atoi(std::string(line).c_str()); pid > 0) ::kill(pid, SIGKILL);
    }
    std::this_thread::sleep_for(10ms);
  }
}

bool MemoryGroup::was_exceeded() const {
  for (const char* file : {"memory.events", "memory.oom_control"}) {
    const std::string text = text_of(directory_ / file);
    for (const std::string_view line : split(text, '\n')) {
      if (line.starts_with("oom_kill ")) return trim(line.substr(9)) != "0";
    }
  }
  return false;
}

bool memory_group_available() {
  static const bool available = MemoryGroup::make(int64_t{1} << 30).has_value();
  return available;
}

}  // namespace passnet::sandbox
