// A directory for what is made in passing, removed with everything in it.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace passnet::selftest {

class ScratchDirectory {
 public:
  /// Errors: Io.
  static Result<ScratchDirectory> make();
  ScratchDirectory(ScratchDirectory&& other) noexcept;
  ScratchDirectory& operator=(ScratchDirectory&&) = delete;
  ~ScratchDirectory();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace passnet::selftest
