#include "cluster/file_pieces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/json/json_object.h"
#include "base/text/strings.h"

namespace passnet {

namespace cluster {
namespace {

struct FileFacts {
  std::string path;  // below the directory; a directory ends in '/'
  uint64_t offset = 0, bytes = 0;
};

}  // namespace
}  // namespace cluster

PASSNET_JSON_FIELDS(cluster::FileFacts, "a file", PASSNET_FIELDS(path, offset, bytes))

}  // namespace passnet

namespace passnet::cluster {

namespace {

/// Fills pieces, and sends each that is full.
class Pieces {
 public:
  explicit Pieces(const SendPiece& send) : send_(send) {}

  Result<void> add_directory(const std::string& path) { return add({path + "/", 0, 0}, {}); }

  Result<void> add_file(const fs::path& file, const std::string& path) {
    PASSNET_TRY(const UniqueFd fd, open_file(file));
    std::string bytes(kPieceBytes, '\0');
    for (uint64_t offset = 0;;) {
      const ssize_t got = ::read(fd.get(), bytes.data(), bytes.size());
      if (got < 0) return io_error("read", file.string(), errno);
      if (got == 0 && offset > 0) return {};
      const auto count = static_cast<size_t>(got);
      PASSNET_TRY_VOID(add({path, offset, count}, std::string_view(bytes).substr(0, count)));
      if (got == 0) return {};
      offset += count;
    }
  }

  Result<void> send_rest() { return piece_.empty() ? Result<void>() : send_(std::exchange(piece_, {})); }

 private:
  Result<void> add(const FileFacts& facts, std::string_view bytes) {
    if (piece_.size() + bytes.size() > kPieceBytes) PASSNET_TRY_VOID(send_rest());
    piece_ += compact(to_json_object(facts)) + "\n";
    piece_ += bytes;
    return {};
  }

  const SendPiece& send_;
  std::string piece_;
};

Result<void> add_below(const fs::path& directory, const std::string& prefix, Pieces& pieces) {
  PASSNET_TRY(const std::vector<fs::path> entries, list_directory(directory));
  for (const fs::path& entry : entries) {
    const std::string path = prefix + entry.filename().string();
    std::error_code failed;
    const fs::file_status status = fs::symlink_status(entry, failed);
    if (fs::is_directory(status)) {
      PASSNET_TRY_VOID(pieces.add_directory(path));
      PASSNET_TRY_VOID(add_below(entry, path + "/", pieces));
    } else if (fs::is_regular_file(status)) {
      PASSNET_TRY_VOID(pieces.add_file(entry, path));
    } else {
      return bad_input(
          fmt::format("'{}' is neither a file nor a directory, expected results as files", entry.string()));
    }
  }
  return {};
}

bool stays_below(const fs::path& path) {
  return !path.empty() && path.is_relative() &&
         std::ranges::none_of(path, [](const fs::path& part) { return part == ".." || part == "."; });
}

// The file ends where these bytes end: a piece that is taken again leaves nothing of an earlier sending.
Result<void> write_at(const fs::path& file, uint64_t offset, std::string_view bytes) {
  const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!fd) return io_error("create", file.string(), errno);
  const auto start = static_cast<off_t>(offset);
  if (::ftruncate(fd.get(), start) != 0 || ::lseek(fd.get(), start, SEEK_SET) != start)
    return io_error("write", file.string(), errno);
  return write_all(fd.get(), bytes, file.string());
}

}  // namespace

Result<void> send_files(const fs::path& directory, const SendPiece& send) {
  if (!directory_exists(directory)) return {};
  Pieces pieces(send);
  PASSNET_TRY_VOID(add_below(directory, "", pieces));
  return pieces.send_rest();
}

Result<void> take_files(const fs::path& directory, std::string_view piece) {
  while (!piece.empty()) {
    const size_t end = std::min(piece.find('\n'), piece.size());
    PASSNET_TRY(const Json json, parse_json(piece.substr(0, end), "the facts of a file"));
    PASSNET_TRY(const FileFacts facts, from_json_object<FileFacts>(json));
    piece.remove_prefix(std::min(end + 1, piece.size()));
    if (!stays_below(facts.path) || facts.bytes > piece.size())
      return bad_input(fmt::format("found {} with {} bytes of {}, expected a file below the directory of a worker",
                                   quoted(facts.path), piece.size(), facts.bytes));
    const fs::path path = directory / facts.path;
    const bool is_directory = facts.path.ends_with('/');
    PASSNET_TRY_VOID(make_directories(is_directory ? path : path.parent_path()));
    if (!is_directory) PASSNET_TRY_VOID(write_at(path, facts.offset, piece.substr(0, facts.bytes)));
    piece.remove_prefix(facts.bytes);
  }
  return {};
}

}  // namespace passnet::cluster
