// A directory for what is made in passing, removed with everything in it.
#pragma once

#include <filesystem>
#include <string>

#include "base/file/file.h"
#include "base/result.h"

namespace passnet {

class TemporaryDirectory {
 public:
  /// A new one in `parent`, a directory of PassNet's own, which is made where it is missing. Its name is `prefix` and six
  /// letters. Others of that form whose process was killed are removed. Errors: Io.
  static Result<TemporaryDirectory> make(const std::filesystem::path& parent, const std::string& prefix);
  /// A new one where the system has such directories, beside those of other programs. Errors: Io.
  static Result<TemporaryDirectory> make(const std::string& prefix);
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();
  const std::filesystem::path& path() const { return path_; }

 private:
  static Result<TemporaryDirectory> make_in(const std::filesystem::path& parent, const std::string& prefix);
  TemporaryDirectory(std::filesystem::path path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::filesystem::path path_;
  UniqueFd lock_;  // of the directory, held while this process lives
};

}  // namespace passnet
