#include "base/file/file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

#include "base/file/open_beneath.h"

namespace passnet {

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

UniqueFd::~UniqueFd() {
  if (fd_ >= 0) ::close(fd_);
}

namespace {

Error too_large(const std::string& path, size_t found, size_t most) {
  return bad_input(
      "the file is too large: found " + std::to_string(found) + " bytes, expected at most " + std::to_string(most),
      SourceLoc{path});
}

// What `fd` holds from here on. expected: its size; 0: not known before, as of what the kernel tells.
Result<std::string> read_all(int fd, const std::string& path, size_t expected, size_t most) {
  std::string content;
  content.resize(expected);
  size_t used = 0;
  for (;;) {
    if (used > most) return too_large(path, used, most);
    if (used == content.size()) content.resize(used + 65536);
    const ssize_t got = ::read(fd, content.data() + used, content.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error("read", path, errno);
    if (got == 0) break;
    used += static_cast<size_t>(got);
    if (used == expected) break;
  }
  content.resize(used);
  return content;
}

Result<void> create_files(const std::string& directory, std::span<const NamedContent> files) {
  const UniqueFd parent(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent) return io_error("open", directory, errno);
  for (const NamedContent& file : files) {
    const std::string path = directory + "/" + file.name;
    const UniqueFd fd(::openat(parent.get(), file.name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!fd) return io_error("create", path, errno);
    PASSNET_TRY_VOID(write_all(fd.get(), file.content, path));
  }
  return {};
}

const char* kind_of_file(mode_t mode) {
  return S_ISDIR(mode)                    ? "a directory"
         : S_ISFIFO(mode)                 ? "a pipe"
         : S_ISSOCK(mode)                 ? "a socket"
         : S_ISLNK(mode)                  ? "a link"
         : S_ISCHR(mode) || S_ISBLK(mode) ? "a device"
                                          : "no regular file";
}

Result<std::string> read_regular(int fd, const std::string& path, FileKind kind) {
  PASSNET_TRY(const size_t size, size_of_regular(fd, path, kind));
  return read_all(fd, path, size, most_bytes(kind));
}

// Without O_NONBLOCK opening a pipe waits for its writer.
constexpr int kReading = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

// openat2() for kernels that lack it, or filters that forbid it.
UniqueFd open_part_by_part(int directory, const std::filesystem::path& file) {
  UniqueFd at(::fcntl(directory, F_DUPFD_CLOEXEC, 0));
  for (auto part = file.begin(); at && part != file.end(); ++part) {
    const bool is_last = std::next(part) == file.end();
    const int flags = is_last ? kReading : O_PATH | O_DIRECTORY | O_CLOEXEC;
    at = UniqueFd(::openat(at.get(), part->c_str(), flags | O_NOFOLLOW));
  }
  return at;
}

// file: without "..". Sets errno.
UniqueFd open_without_links(int directory, const std::filesystem::path& file) {
  open_how how{};
  how.flags = kReading;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  UniqueFd fd(static_cast<int>(::syscall(SYS_openat2, directory, file.c_str(), &how, sizeof how)));
  if (!fd && (errno == ENOSYS || errno == EPERM)) return open_part_by_part(directory, file);
  return fd;
}

// Whether a part of the path is a link, which may be why it was not opened.
bool goes_through_link(const std::filesystem::path& root, const std::filesystem::path& file) {
  std::filesystem::path place = root;
  for (const std::filesystem::path& part : file) {
    std::error_code failed;
    if (std::filesystem::is_symlink(std::filesystem::symlink_status(place /= part, failed))) return true;
  }
  return false;
}

}  // namespace

Result<UniqueFd> duplicate(int fd, const std::string& of) {
  UniqueFd other(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!other) return io_error("duplicate the descriptor of", of, errno);
  return other;
}

bool entry_exists(const std::filesystem::path& path) {
  std::error_code status;
  return std::filesystem::exists(std::filesystem::symlink_status(path, status));
}

size_t most_bytes(FileKind kind) {
  constexpr size_t kKiB = size_t{1} << 10, kMiB = size_t{1} << 20;
  switch (kind) {
    case FileKind::Graph: return 64 * kMiB;
    case FileKind::Kernel: return kMiB;
    case FileKind::Facts: return kMiB;
    case FileKind::Line: return 4 * kKiB;
    case FileKind::Settings: return 64 * kKiB;
    case FileKind::Lines: return 1024 * kMiB;
    case FileKind::Kept: return 64 * kMiB;
    case FileKind::Object: return 512 * kMiB;
    case FileKind::Program: return 4096 * kMiB;
    case FileKind::System: return 64 * kMiB;
  }
  return 0;
}

Result<UniqueFd> open_file(const std::filesystem::path& path) {
  UniqueFd fd(::open(path.c_str(), kReading));
  if (!fd) return io_error("open", path.string(), errno);
  PASSNET_TRY_VOID(size_of_regular(fd.get(), path.string()));
  return fd;
}

Result<std::string> read_file(const std::filesystem::path& path, FileKind kind) {
  PASSNET_TRY(const UniqueFd fd, open_to_read(path, kind));
  return read_regular(fd.get(), path.string(), kind);
}

Result<UniqueFd> open_to_read(const std::filesystem::path& path, FileKind kind) {
  UniqueFd fd(::open(path.c_str(), kReading));
  if (!fd) return cannot_open(path.string(), kind, errno);
  return fd;
}

Result<size_t> size_of_regular(int fd, const std::string& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return io_error("read", path, errno);
  if (!S_ISREG(info.st_mode))
    return bad_input(std::string("found ") + kind_of_file(info.st_mode) + ", expected a regular file", SourceLoc{path});
  return static_cast<size_t>(info.st_size);
}

Result<size_t> size_of_regular(int fd, const std::string& path, FileKind kind) {
  PASSNET_TRY(const size_t size, size_of_regular(fd, path));
  if (size > most_bytes(kind)) return too_large(path, size, most_bytes(kind));
  return size;
}

std::string path_beneath(const std::filesystem::path& root, const std::filesystem::path& file) {
  return (root == "." ? file : root / file).string();
}

Error cannot_open(const std::string& path, FileKind kind, int errno_value) {
  Error error = io_error("open", path, errno_value);
  constexpr std::array kOurs = {FileKind::Settings, FileKind::Object, FileKind::Program, FileKind::System};
  const bool leads_nowhere =
      errno_value == ENOENT || errno_value == ENOTDIR || errno_value == ENAMETOOLONG || errno_value == ELOOP;
  if (leads_nowhere && std::ranges::find(kOurs, kind) == kOurs.end()) error.kind = Error::Kind::BadInput;
  return error;
}

Result<UniqueFd> open_beneath(const std::filesystem::path& root, const std::filesystem::path& file, FileKind kind) {
  const std::string path = path_beneath(root, file);
  const std::filesystem::path below = file.lexically_normal();
  if (below.empty() || below.is_absolute() || *below.begin() == "..")
    return bad_input("the path leads out of '" + root.string() + "'", SourceLoc{path});
  const UniqueFd directory(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return cannot_open(path, kind, errno);
  UniqueFd fd = open_without_links(directory.get(), below);
  if (fd) return fd;
  const int reason = errno;
  if ((reason == ELOOP || reason == ENOTDIR || reason == EXDEV) && goes_through_link(root, below))
    return bad_input("found a link, expected a regular file", SourceLoc{path})
        .with_hint("below '" + root.string() + "' no link is followed: put there what it points to");
  return cannot_open(path, kind, reason);
}

Result<std::string> read_beneath(const std::filesystem::path& root, const std::filesystem::path& file, FileKind kind) {
  PASSNET_TRY(const UniqueFd fd, open_beneath(root, file, kind));
  return read_regular(fd.get(), path_beneath(root, file), kind);
}

Result<void> write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t put = ::write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return io_error("write", path, errno);
    content.remove_prefix(static_cast<size_t>(put));
  }
  return {};
}

Result<void> remove_directory(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::remove_all(path, failed);
  if (failed) return io_error("remove", path.string(), failed.value());
  return {};
}

Result<void> write_file(const std::filesystem::path& path, std::string_view content) {
  return write_file(path, std::span(&content, 1));
}

Result<void> write_file(const std::filesystem::path& path, std::span<const std::string_view> parts) {
  std::error_code ignored;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  const std::string temporary = path.string() + ".tmp" + std::to_string(::gettid());
  UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!fd) return io_error("create", temporary, errno);
  for (const std::string_view part : parts) {
    if (Result<void> written = write_all(fd.get(), part, path.string()); !written) {
      ::unlink(temporary.c_str());
      return written;
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    Error error = io_error("rename to", path.string(), errno);
    ::unlink(temporary.c_str());
    return error;
  }
  return {};
}

Result<void> write_directory(const std::filesystem::path& path, std::span<const NamedContent> files) {
  if (entry_exists(path)) return {};
  const std::filesystem::path partial =
      path.parent_path() / ("." + path.filename().string() + "." + std::to_string(::getpid()));
  std::error_code failed;
  // Mostly the parents are there: asking for each of them would take longer than writing the files.
  if (::mkdir(partial.c_str(), 0777) != 0) {
    std::filesystem::remove_all(partial, failed);  // left by a killed process of the same number
    std::filesystem::create_directories(partial, failed);
    if (failed) return io_error("create", partial.string(), failed.value());
  }
  Result<void> written = create_files(partial.string(), files);
  if (written) {
    if (::rename(partial.c_str(), path.c_str()) == 0) return {};
    const int reason = errno;
    // Another process may have been quicker.
    if (!entry_exists(path)) written = io_error("rename to", path.string(), reason);
  }
  std::filesystem::remove_all(partial, failed);
  return written;
}

std::filesystem::path beside_binary(const std::string& name) {
  std::error_code failure;
  return std::filesystem::read_symlink("/proc/self/exe", failure).parent_path() / name;
}

std::filesystem::path find_above_binary(const std::filesystem::path& relative) {
  std::error_code failure;
  for (std::filesystem::path above = beside_binary("").parent_path(); above.has_relative_path();
       above = above.parent_path()) {
    if (std::filesystem::exists(above / relative, failure)) return above / relative;
  }
  return {};
}

}  // namespace passnet
