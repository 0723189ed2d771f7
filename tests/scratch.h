// A directory of this test process alone, so that tests of two users, or two runs at once, never meet.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace passnet {

/// Made at the first call below the system's directory for temporary files; removed when the process ends.
inline const std::filesystem::path& scratch_directory() {
  struct Scratch {
    std::filesystem::path path;
    Scratch() {
      std::string name = (std::filesystem::temp_directory_path() / "passnet-test-XXXXXX").string();
      if (::mkdtemp(name.data()) == nullptr)
        throw std::filesystem::filesystem_error("mkdtemp", name, {errno, std::generic_category()});
      path = name;
    }
    ~Scratch() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const Scratch scratch;
  return scratch.path;
}

}  // namespace passnet
