// Whole-file reading and crash-safe writing, and the owner of a file descriptor.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/file/paths.h"
#include "base/result.h"

namespace passnet {

/// Owns a file descriptor; closes it once. -1 is empty.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd();
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Another descriptor of the same, which no program that is started gets. of: what it is, as an error names it. Errors: Io.
Result<UniqueFd> duplicate(int fd, const std::string& of);

/// Whether a directory holds this name; a broken link counts.
bool entry_exists(const std::filesystem::path& path);

/// What a file is for: how large it may be (file.cpp has the table).
enum class FileKind {
  Graph,     // a text that is read as a graph, a pass or a list: model.py, Name.py, graph_list.txt
  Kernel,    // a kernel's source, and what else is written by hand
  Facts,     // JSON beside a graph
  Line,      // one line: graph_hash.txt, score.txt
  Settings,  // what a user or this program noted: keys, calibrations
  Lines,     // lines that grow with what is done: records, journals, trajectories
  Kept,      // a text that an evaluation keeps of a graph or a pass
  Object,    // what a compiler writes
  Program,   // a binary of ours or of a tool, a compiled package
  System,    // what the kernel tells in /proc and /sys
};
/// In bytes.
size_t most_bytes(FileKind kind);

/// Opens a regular file for reading; never waits for a pipe or a device. Errors: as read_file().
Result<UniqueFd> open_file(const std::filesystem::path& path);

/// The bytes of a regular file, which may be reached through links; never waits for a pipe or a device.
/// Errors: BadInput at the file (no regular file, too large), Io.
Result<std::string> read_file(const std::filesystem::path& path, FileKind kind);

/// The same of a file below a directory. file: relative to `root`; from there on nothing is reached through a link.
/// Errors: as read_file(); BadInput at the file: a link, a path that leads out of `root`.
Result<std::string> read_beneath(const std::filesystem::path& root, const std::filesystem::path& file, FileKind kind);

/// Writes all of it, however often it takes. path: as an error names it. Errors: Io.
Result<void> write_all(int fd, std::string_view content, const std::string& path);

/// With all that is in it; nothing where there is none. Errors: Io.
Result<void> remove_directory(const std::filesystem::path& path);

/// Writes to a temporary file beside `path`, then renames it, so readers see the old or the new content,
/// never a part. Creates missing parent directories. Errors: Io (full disk included; the old file stays).
Result<void> write_file(const std::filesystem::path& path, std::string_view content);
/// The same with content that lies in several places.
Result<void> write_file(const std::filesystem::path& path, std::span<const std::string_view> parts);

struct NamedContent {
  const char* name;
  std::string_view content;
};
/// Writes a new directory with these files: under another name beside `path`, then renamed, so that it
/// appears as a whole. One that is there already stays as it is. Creates missing parent directories.
/// Errors: Io (nothing stays behind).
Result<void> write_directory(const std::filesystem::path& path, std::span<const NamedContent> files);

/// The path of that name in the directory of the running binary, whether it exists or not.
std::filesystem::path beside_binary(const std::string& name);
/// `relative` in the nearest directory above the running binary that holds it (an installed or a built tree); empty when
/// none does.
std::filesystem::path find_above_binary(const std::filesystem::path& relative);

/// `${PASSNET_HOME}` or `~/.cache/passnet`: where environments, caches and kernels are kept.
std::filesystem::path passnet_home();

}  // namespace passnet
