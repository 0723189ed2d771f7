#include "base/file/line_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file/paths.h"

namespace passnet {

Result<LineFile> LineFile::open(const std::filesystem::path& path, bool keep) {
  PASSNET_TRY_VOID(make_directories(path.parent_path()));
  LineFile file;
  file.path_ = path;
  file.fd_ = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
  if (!file.fd_) return io_error("open", path.string(), errno);
  if (::flock(file.fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    return resource_error("'" + path.string() + "' is being written by another run")
        .with_hint("wait for it, or give this run its own --out");
  }
  if (keep) {
    PASSNET_TRY(file.kept_, read_file(path, FileKind::Lines));
    file.kept_.resize(file.kept_.rfind('\n') + 1);  // 0 when there is no whole line: npos + 1
  }
  if (::ftruncate(file.fd_.get(), static_cast<off_t>(file.kept_.size())) != 0)
    return io_error("truncate", path.string(), errno);
  return file;
}

Result<void> LineFile::append(std::string_view lines) {
  struct stat before {};
  if (::fstat(fd_.get(), &before) != 0) return io_error("read the size of", path_.string(), errno);
  if (before.st_nlink == 0)
    return resource_error("'" + path_.string() + "' was removed while it was written")
        .with_hint("start again; nothing of this run is left there");
  if (Result<void> written = write_all(fd_.get(), std::string(lines) + "\n", path_.string()); !written) {
    Error error = std::move(written).error();
    // Half a line must not stay; when even cutting fails, the torn line is skipped when read.
    if (::ftruncate(fd_.get(), before.st_size) != 0) error.notes.push_back("its last line is torn and will be skipped");
    return error;
  }
  ::fdatasync(fd_.get());
  return {};
}

}  // namespace passnet
