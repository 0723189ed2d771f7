// A directory for what is made in passing, removed with everything in it.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace passnet {

class TemporaryDirectory {
 public:
  /// A new one in `parent`, which is made where it is missing; its name begins with `prefix`.
  /// Errors: Io.
  static Result<TemporaryDirectory> make(const std::filesystem::path& parent, const std::string& prefix);
  /// Where the system has such directories. Errors: Io.
  static Result<TemporaryDirectory> make(const std::string& prefix);
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace passnet
