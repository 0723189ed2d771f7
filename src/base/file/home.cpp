#include "base/file/home.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "base/file/file.h"
#include "base/log.h"

namespace passnet {

namespace {

std::filesystem::path home_path() {
  if (const char* home = std::getenv("PASSNET_HOME"); home && *home) return home;
  if (const char* home = std::getenv("HOME"); home && *home) return std::filesystem::path(home) / ".cache/passnet";
  const passwd* entry = ::getpwuid(::getuid());
  return std::filesystem::path(entry && entry->pw_dir ? entry->pw_dir : "/tmp") / ".cache/passnet";
}

struct Home {
  std::filesystem::path path = home_path();
  bool exists = false;
  struct stat link {
  }, target{};

  Home() {
    while (!path.has_filename() && path.has_relative_path())
      path = path.parent_path();  // "home/": lstat would follow it
    exists = ::lstat(path.c_str(), &link) == 0 && ::stat(path.c_str(), &target) == 0;
  }
  bool is_link() const { return S_ISLNK(link.st_mode); }
};

bool is_foreign(const struct stat& info) { return info.st_uid != ::geteuid() && info.st_uid != 0; }

Error untrusted(const Home& home, const std::string& found) {
  return resource_error(fmt::format("PASSNET_HOME '{}' {}, expected a directory that this user alone can write to",
                                    home.path.string(), found));
}

}  // namespace

std::filesystem::path passnet_home() {
  static std::once_flag told;
  std::call_once(told, [] {
    if (const std::string remark = home_remark(); !remark.empty()) log::warn(remark);
  });
  return home_path();
}

Result<void> check_home() {
  const Home home;
  if (!home.exists) return {};
  const bool is_root = ::geteuid() == 0;
  constexpr const char* kAnother = "set PASSNET_HOME to a directory of your own";
  if (home.is_link() && is_foreign(home.link)) {
    return untrusted(home, fmt::format("is a link of another user (uid {})", home.link.st_uid)).with_hint(kAnother);
  }
  if (!S_ISDIR(home.target.st_mode)) return untrusted(home, "is no directory").with_hint(kAnother);
  if ((home.target.st_mode & S_IWOTH) != 0) {
    return untrusted(home, "can be written to by every user")
        .with_hint(fmt::format("remove what is not yours in it, then: chmod o-w '{}'", home.path.string()));
  }
  if (!is_root && is_foreign(home.target))
    return untrusted(home, fmt::format("belongs to another user (uid {})", home.target.st_uid)).with_hint(kAnother);
  return {};
}

std::string home_remark() {
  const Home home;
  if (!home.exists) return "";
  if (home.is_link()) {
    return fmt::format(
        "PASSNET_HOME '{}' is a link; whoever may write above what it leads to can replace all of it: "
        "set PASSNET_HOME to the directory itself",
        home.path.string());
  }
  if (is_foreign(home.target)) {
    return fmt::format(
        "PASSNET_HOME '{}' belongs to another user (uid {}), who can replace what is run from it: set "
        "PASSNET_HOME to a directory of root",
        home.path.string(), home.target.st_uid);
  }
  return "";
}

}  // namespace passnet
