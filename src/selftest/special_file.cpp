#include "selftest/special_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/file/file.h"
#include "base/text/strings.h"

namespace passnet::selftest {

namespace {

constexpr uintmax_t kTerabyte = uintmax_t{1} << 40, kLargestCopied = uintmax_t{1} << 30;

Result<void> make_pipe(const fs::path& path) {
  if (::mkfifo(path.c_str(), 0600) != 0) return io_error("make a pipe", path.string(), errno);
  return {};
}

Result<void> make_sparse(const fs::path& path, uintmax_t bytes) {
  PASSNET_TRY_VOID(write_file(path, ""));
  std::error_code failed;
  fs::resize_file(path, bytes, failed);
  if (failed) return io_error("resize", path.string(), failed.value());
  return {};
}

Result<void> make_link(const fs::path& path, const fs::path& target) {
  std::error_code failed;
  fs::create_symlink(target, path, failed);
  if (failed) return io_error("make a link", path.string(), failed.value());
  return {};
}

/// Moves what stands there to `directory`/outside. Returns: its new place, as a link in the old one says it.
Result<fs::path> move_outside(const fs::path& path, const fs::path& directory) {
  const fs::path moved = directory / kOutside / path.filename();
  std::error_code failed;
  fs::create_directories(moved.parent_path(), failed);
  if (!failed) fs::rename(path, moved, failed);
  if (failed) return io_error("move", path.string(), failed.value());
  return moved.lexically_relative(path.parent_path());
}

}  // namespace

Result<SpecialFile> parse_special(const TextField& field) {
  std::vector<std::string_view> words = split(field.value, ' ');
  SpecialFile file;
  const std::string_view kind = words.front();
  if (kind == "pipe") file.kind = SpecialFile::Kind::Pipe;
  if (kind == "sparse") file.kind = SpecialFile::Kind::Sparse;
  const bool is_link = kind == "link", known = is_link || kind == "pipe" || kind == "sparse";
  if (!known || words.size() < 2 || words.size() > (is_link ? 3U : 2U))
    return bad_input(
        fmt::format("field '{}': expected 'link PLACE', 'link PLACE TARGET', 'pipe PLACE' or 'sparse PLACE', "
                    "found {}",
                    field.key, quoted(field.value)),
        field.value_at);
  file.place = words[1];
  const fs::path place = fs::path(file.place).lexically_normal();
  if (place.is_absolute() || place.empty() || *place.begin() == "..")
    return bad_input(fmt::format("field '{}': the place {} is not in the sample", field.key, quoted(words[1])),
                     field.value_at);
  if (words.size() == 3) file.target = words[2];
  return file;
}

Result<void> place_special(const SpecialFile& file, const fs::path& directory) {
  const fs::path path = directory / file.place;
  if (file.kind == SpecialFile::Kind::Link && file.target.empty()) {
    PASSNET_TRY(const fs::path target, move_outside(path, directory));
    return make_link(path, target);
  }
  std::error_code failed;
  fs::remove_all(path, failed);
  if (failed) return io_error("remove", path.string(), failed.value());
  switch (file.kind) {
    case SpecialFile::Kind::Link: return make_link(path, file.target);
    case SpecialFile::Kind::Pipe: return make_pipe(path);
    case SpecialFile::Kind::Sparse: return make_sparse(path, kTerabyte);
  }
  return {};
}

Result<void> replicate(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::create_directories(to.parent_path(), failed);
  const fs::file_status status = fs::symlink_status(from, failed);
  if (fs::is_symlink(status)) {
    fs::copy_symlink(from, to, failed);
  } else if (fs::is_fifo(status)) {
    return make_pipe(to);
  } else if (fs::is_directory(status)) {
    fs::create_directories(to, failed);
    for (fs::directory_iterator entry(from, failed), end; !failed && entry != end; entry.increment(failed))
      PASSNET_TRY_VOID(replicate(entry->path(), to / entry->path().filename()));
  } else if (const uintmax_t size = fs::file_size(from, failed); !failed && size > kLargestCopied) {
    return make_sparse(to, size);
  } else if (!failed) {
    fs::copy_file(from, to, failed);
  }
  if (failed) return io_error("copy", from.string(), failed.value());
  return {};
}

}  // namespace passnet::selftest
