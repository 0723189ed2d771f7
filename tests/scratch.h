// A directory of one test alone, so that tests of two users, or two runs at once, never meet.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace passnet {

/// A new, empty directory below the system's directory for temporary files. Only this user may enter it; it is removed
/// with all it holds when this goes out of scope.
/// Errors: the constructor throws std::filesystem::filesystem_error where none can be made.
class ScratchDirectory {
 public:
  ScratchDirectory() : path(make()) {}
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::filesystem::path path;

 private:
  static std::filesystem::path make() {
    std::string name = (std::filesystem::temp_directory_path() / "passnet-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::filesystem::filesystem_error("mkdtemp", name, {errno, std::generic_category()});
    return name;
  }
};

}  // namespace passnet
