// A directory that appears as a whole, or not at all.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace passnet::cluster {

class NewDirectory {
 public:
  /// Begins `path` under another name beside it. Errors: BadInput: it is there and not empty; Io.
  static Result<NewDirectory> begin(const std::filesystem::path& path);
  NewDirectory(NewDirectory&& other) noexcept;
  NewDirectory& operator=(NewDirectory&&) = delete;
  ~NewDirectory();  // removes it unless finish() was called

  /// Writes here.
  const std::filesystem::path& partial() const { return partial_; }
  /// Gives it its name. Errors: Io.
  Result<void> finish();

 private:
  NewDirectory(std::filesystem::path path, std::filesystem::path partial);

  std::filesystem::path path_, partial_;  // partial_: empty once it has its name
};

}  // namespace passnet::cluster
