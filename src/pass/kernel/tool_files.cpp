#include "pass/kernel/tool_files.h"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>

#include "base/log.h"
#include "base/text/strings.h"
#include "pass/kernel/compile_run.h"

namespace passnet::pass {
namespace {

/// The loader an ELF file asks for; empty when it asks for none, as a static program and a library do.
Result<std::string> interpreter_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header) ||
      std::string_view(ELFMAG) != std::string_view(reinterpret_cast<const char*>(header.e_ident), SELFMAG) ||
      header.e_ident[EI_CLASS] != ELFCLASS64)
    return resource_error(fmt::format("'{}' is no program of this machine", path));
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof segment));
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) break;
    if (segment.p_type != PT_INTERP || segment.p_filesz == 0 || segment.p_filesz > 4096) continue;
    std::string name(segment.p_filesz - 1, '\0');
    file.seekg(static_cast<std::streamoff>(segment.p_offset));
    file.read(name.data(), static_cast<std::streamsize>(name.size()));
    return name;
  }
  return std::string();
}

Result<std::string> ask(std::vector<std::string> argv) {
  PASSNET_TRY(const CompilerOutput output, ask_compiler(argv));
  if (!succeeded(output))
    return resource_error(fmt::format("'{}' fails: {}", join(argv, " "), quoted(trim(output.text), 200)));
  return std::string(trim(output.text));
}

/// A line of `ld.so --list`: "libm.so.6 => /lib/libm.so.6 (0x7f…)", "/lib64/ld.so (0x7f…)"; what is no file
/// ("linux-vdso.so.1 (0x7f…)", "statically linked") gives an empty name.
Result<std::string> listed_library(std::string_view line) {
  if (const size_t arrow = line.find("=> "); arrow != std::string_view::npos) line.remove_prefix(arrow + 3);
  line = trim(line);
  if (line.starts_with("not found")) return resource_error("a library of it is not found");
  if (!line.starts_with('/')) return std::string();
  return std::string(line.substr(0, line.rfind(" (")));
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

/// Where the compiler finds a program that it knows by name alone: on the PATH that it is run with.
std::string find_for(const std::string& gpp, const std::string& name) {
  for (const fs::path& directory : {fs::path(gpp).parent_path(), fs::path("/usr/bin"), fs::path("/bin")}) {
    if (::access((directory / name).c_str(), X_OK) == 0) return (directory / name).string();
  }
  return "";
}

Result<ToolFiles> look_for(const std::string& gpp) {
  std::vector<std::string> binaries = {gpp}, further;
  for (const char* name : {"cc1plus", "as", "collect2", "ld"}) {
    PASSNET_TRY(std::string path, ask({gpp, std::string("-print-prog-name=") + name}));
    if (path.find('/') == std::string::npos) path = find_for(gpp, path);  // not in the compiler's directories
    if (path.empty()) return resource_error(fmt::format("'{}' has no {}", gpp, name));
    binaries.push_back(path);
  }
  for (const char* name : {"liblto_plugin.so", "libgcc.a", "include"}) {
    PASSNET_TRY(const std::string path, ask({gpp, std::string("-print-file-name=") + name}));
    if (path.find('/') == std::string::npos) continue;  // not one of this compiler's
    (std::string_view(name).ends_with(".so") ? binaries : further).push_back(path);
  }
  PASSNET_TRY(ToolFiles files, loaded_files(binaries));
  files.paths.insert(files.paths.end(), further.begin(), further.end());
  return files;
}

}  // namespace

Result<ToolFiles> loaded_files(const std::vector<std::string>& binaries) {
  ToolFiles files;
  std::string loader;
  std::vector<std::string> left;  // libraries: listed by the loader of the programs
  const auto list = [&](const std::string& path) -> Result<void> {
    PASSNET_TRY(const std::string listed, ask({loader, "--list", path}));
    for (std::string_view line : split(listed, '\n')) {
      PASSNET_TRY(const std::string library, listed_library(line));
      if (library.empty()) continue;
      add_once(files.paths, library);
      add_once(files.library_path, fs::path(library).parent_path().string());
    }
    return {};
  };
  for (const std::string& path : binaries) {
    add_once(files.paths, path);
    PASSNET_TRY(const std::string own, interpreter_of(path));
    if (own.empty()) {
      left.push_back(path);
      add_once(files.library_path, fs::path(path).parent_path().string());  // it may be opened by its name alone
      continue;
    }
    loader = own;
    add_once(files.paths, loader);
    PASSNET_TRY_VOID(list(path));
  }
  for (const std::string& path : left) {
    if (!loader.empty()) PASSNET_TRY_VOID(list(path));
  }
  return files;
}

Result<ToolFiles> compiler_files(const std::string& gpp) {
  static std::mutex mutex;
  static std::map<std::string, ToolFiles> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(gpp); found != known.end()) return found->second;
  PASSNET_TRY(ToolFiles files, look_for(gpp));
  return known.emplace(gpp, std::move(files)).first->second;
}

std::string file_version(const std::string& file) {
  std::error_code failure;
  const auto size = fs::file_size(file, failure);
  const auto time = fs::last_write_time(file, failure);
  return fmt::format("{} {} {}", file, failure ? 0 : size, failure ? 0 : time.time_since_epoch().count());
}

ToolFiles files_or_warn(const std::string& compiler, Result<ToolFiles> files) {
  if (files) return std::move(*files);
  static std::mutex mutex;
  static std::set<std::string> told;
  const std::lock_guard lock(mutex);
  if (told.insert(compiler).second) {
    log::warn(fmt::format("the compile jail of '{}' shows all files of this machine, not the compiler's alone: {}",
                          compiler, files.error().message));
  }
  return {};
}

}  // namespace passnet::pass
