#include "pass/kernel/object_seal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>

#include "base/file/file.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/text/strings.h"

namespace passnet::pass {
namespace {

fs::path seal_of(const fs::path& object) { return object.string() + ".seal"; }

/// "SHA-256 of the object, HMAC of it and the key".
std::string seal_text(const std::string& secret, const std::string& key, const std::string& sha256) {
  return fmt::format("{} {}\n", sha256, hmac_sha256_hex(secret, key + " " + sha256));
}

/// Made under a name of its own, then linked: of two processes at once, both end up with one secret.
Result<void> make_secret(const fs::path& path) {
  std::array<char, 32> random{};
  PASSNET_TRY_VOID(fill_random(std::as_writable_bytes(std::span(random))));
  std::error_code failure;
  fs::create_directories(path.parent_path(), failure);
  std::string name = path.string() + ".XXXXXX";
  const UniqueFd file(::mkostemp(name.data(), O_CLOEXEC));  // mode 0600
  if (!file) return io_error("create a file beside", path.string(), errno);
  Result<void> written = write_all(file.get(), sha256_hex({random.data(), random.size()}), name);
  if (written && ::link(name.c_str(), path.c_str()) != 0 && errno != EEXIST)
    written = io_error("create", path.string(), errno);
  ::unlink(name.c_str());
  return written;
}

}  // namespace

Result<std::string> installation_secret() {
  const fs::path path = passnet_home() / "kernel.key";
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) {
    PASSNET_TRY_VOID(make_secret(path));
    if (::lstat(path.c_str(), &found) != 0) return io_error("open", path.string(), errno);
  }
  if (!S_ISREG(found.st_mode) || found.st_uid != ::geteuid() || (found.st_mode & 077) != 0 || found.st_size != 64) {
    return resource_error(fmt::format("'{}' is not a secret of this user alone", path.string()))
        .with_hint("remove it; another is made");
  }
  return read_file(path, FileKind::Settings);
}

Result<void> write_seal(const fs::path& object, const std::string& secret, const std::string& key,
                        std::string_view bytes) {
  return write_file(seal_of(object), seal_text(secret, key, sha256_hex(bytes)));
}

std::string broken_seal(const fs::path& object, const std::string& secret, const std::string& key,
                        std::string_view bytes) {
  const auto seal = read_file(seal_of(object), FileKind::Settings);
  if (!seal) return "it has no seal";
  const std::string sha256 = sha256_hex(bytes);
  if (*seal == seal_text(secret, key, sha256)) return "";
  return seal->starts_with(sha256 + " ") ? "its seal was not made here" : "its bytes are not those that were built";
}

}  // namespace passnet::pass
