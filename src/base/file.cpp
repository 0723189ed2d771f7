#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

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

// What `fd` holds from here on. expected: the size to make room for.
Result<std::string> read_all(int fd, const std::string& path, size_t expected) {
  std::string content;
  content.resize(expected);
  size_t used = 0;
  for (;;) {
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
         : S_ISCHR(mode) || S_ISBLK(mode) ? "a device"
                                          : "no regular file";
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

Result<std::string> read_file(const std::filesystem::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return io_error("open", path.string(), errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return io_error("read", path.string(), errno);
  if (S_ISDIR(info.st_mode)) return io_error("read", path.string(), EISDIR);
  return read_all(fd.get(), path.string(), S_ISREG(info.st_mode) ? static_cast<size_t>(info.st_size) : 0);
}

Result<std::string> read_regular_file(const std::filesystem::path& path, size_t max_bytes) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return io_error("open", path.string(), errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return io_error("read", path.string(), errno);
  const SourceLoc at{path.string(), 0, 0};
  if (!S_ISREG(info.st_mode))
    return bad_input(std::string("found ") + kind_of_file(info.st_mode) + ", expected a regular file", at);
  const auto size = static_cast<size_t>(info.st_size);
  if (size > max_bytes) {
    return bad_input("the file is too large: found " + std::to_string(size) + " bytes, expected at most " +
                         std::to_string(max_bytes),
                     at);
  }
  return read_all(fd.get(), path.string(), size);
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
  if (failed) return io_error("cannot remove", path.string(), failed.value());
  return {};
}

Result<void> write_file(const std::filesystem::path& path, std::string_view content) {
  return write_file(path, std::span(&content, 1));
}

Result<void> write_file(const std::filesystem::path& path, std::span<const std::string_view> parts) {
  std::error_code ignored;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  const std::string temporary = path.string() + ".tmp" + std::to_string(::gettid());
  UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
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

std::filesystem::path find_above_binary(const std::filesystem::path& relative) {
  std::error_code failure;
  const std::filesystem::path binary = std::filesystem::read_symlink("/proc/self/exe", failure);
  for (std::filesystem::path above = binary.parent_path(); above.has_relative_path(); above = above.parent_path()) {
    if (std::filesystem::exists(above / relative, failure)) return above / relative;
  }
  return {};
}

}  // namespace passnet
