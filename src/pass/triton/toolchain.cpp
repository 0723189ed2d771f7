#include "pass/triton/toolchain.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <map>
#include <mutex>
#include <vector>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/hash.h"
#include "base/text/strings.h"
#include "pass/kernel/compile_run.h"
#include "pass/kernel/python_files.h"

namespace passnet::pass {
namespace {

constexpr const char* kInstall =
    "install a PyTorch for CUDA with all it depends on (pip install torch), or Triton where PyTorch is (pip install "
    "triton)";
constexpr int kOldestMinor = 3;  // of Triton 3
constexpr int kBlackwell = 100;
constexpr const char* kTellsAboutItself =
    "import os, sys, sysconfig\nprint(os.path.realpath(sys.executable), sysconfig.get_path('stdlib'), sep='\\n')";

/// The directories of Python packages where Triton may lie: beside PyTorch, and in the environment of `make test`.
std::vector<fs::path> package_directories() {
  std::vector<fs::path> directories = {python_packages()};
  const Result<std::vector<fs::path>> pythons = list_directory(passnet_home() / "venv/lib");
  if (!pythons) return directories;
  for (const fs::path& python : *pythons) directories.push_back(python / "site-packages");
  return directories;
}

/// What stands between `before` and `after` in a text.
std::string between(std::string_view text, std::string_view before, std::string_view after) {
  const size_t start = text.find(before);
  if (start == std::string_view::npos) return "";
  text.remove_prefix(start + before.size());
  return std::string(text.substr(0, text.find(after)));
}

/// "3.6.0" from the text of triton/__init__.py.
std::string version_in(const fs::path& packages) {
  const Result<std::string> text = read_file(packages / "triton/__init__.py", FileKind::Kernel);
  return text ? between(*text, "__version__ = '", "'") : "";
}

bool new_enough(std::string_view version) {
  const auto parts = split(version, '.');
  int major = 0, minor = 0;
  const auto read = [](std::string_view text, int& out) {
    return std::from_chars(text.data(), text.data() + text.size(), out).ec == std::errc();
  };
  return parts.size() >= 2 && read(parts[0], major) && read(parts[1], minor) &&
         (major > 3 || (major == 3 && minor >= kOldestMinor));
}

/// PACKAGES is PREFIX/lib/pythonX.Y/site-packages: python of PREFIX, else that of the same version on PATH.
Result<std::string> python_of(const fs::path& packages) {
  const std::string name = packages.parent_path().filename().string();
  const fs::path own = packages.parent_path().parent_path().parent_path() / "bin" / name;
  if (::access(own.c_str(), X_OK) == 0) return own.string();
  if (const std::string found = find_on_path(name.c_str()); !found.empty()) return found;
  return resource_error(fmt::format("no {} for the Triton in '{}'", name, packages.string()))
      .with_hint(fmt::format("install {}", name));
}

Result<void> ask_python(TritonToolchain& found) {
  PASSNET_TRY(const std::string python, python_of(found.packages));
  PASSNET_TRY(const CompilerOutput output, ask_compiler({python, "-s", "-S", "-c", kTellsAboutItself}));
  const auto lines = split(trim(output.text), '\n');
  if (!succeeded(output) || lines.size() != 2)
    return resource_error(fmt::format("'{}' does not start: {}", python, quoted(trim(output.text), 200)));
  found.python = lines[0];
  found.library = lines[1];
  return {};
}

Result<void> find_ptxas(TritonToolchain& found, int capability) {
  const fs::path bundled = found.packages / "triton/backends/nvidia/bin";
  for (const char* name : {"ptxas-blackwell", "ptxas"}) {
    if (std::string_view(name) != "ptxas" && capability < kBlackwell) continue;
    if (found.ptxas.empty() && ::access((bundled / name).c_str(), X_OK) == 0) found.ptxas = (bundled / name).string();
  }
  if (found.ptxas.empty()) found.ptxas = find_on_path("ptxas", "/usr/local/cuda/bin");
  if (found.ptxas.empty())
    return resource_error(fmt::format("no ptxas: found neither '{}' nor one on PATH", (bundled / "ptxas").string()))
        .with_hint(kInstall);
  PASSNET_TRY(const CompilerOutput output, ask_compiler({found.ptxas, "--version"}));
  found.cuda_version = between(output.text, "release ", ",");
  if (!succeeded(output) || found.cuda_version.empty())
    return resource_error(
        fmt::format("'{}' does not say its version: {}", found.ptxas, quoted(trim(output.text), 200)));
  return {};
}

/// SHA-256 of our script.
Result<std::string> hash_script(const fs::path& script_dir) {
  PASSNET_TRY(const std::vector<fs::path> files, list_directory(script_dir / "passnet_triton"));
  std::string all;
  for (const fs::path& file : files) {
    if (file.extension() != ".py") continue;
    PASSNET_TRY(const std::string text, read_file(file, FileKind::Kernel));
    all += fmt::format("{} {}\n", file.filename().string(), sha256_hex(text));
  }
  return sha256_hex(all);
}

Result<TritonToolchain> look_for_triton(int capability) {
  TritonToolchain found;
  for (const fs::path& directory : package_directories()) {
    if (found.version = version_in(directory); !found.version.empty()) {
      // As it is really called: an environment behind a link is another Python's, perhaps.
      std::error_code failure;
      found.packages = fs::canonical(directory, failure);
      break;
    }
  }
  if (found.version.empty())
    return resource_error("no compiler for @triton.jit kernels: Triton is not installed").with_hint(kInstall);
  if (!new_enough(found.version))
    return resource_error(fmt::format("Triton {} in '{}' is too old, expected 3.{} or newer", found.version,
                                      found.packages.string(), kOldestMinor))
        .with_hint("pip install --upgrade triton");
  PASSNET_TRY(found.script_dir, find_scripts("passnet_triton"));
  PASSNET_TRY_VOID(ask_python(found));
  PASSNET_TRY_VOID(find_ptxas(found, capability));
  PASSNET_TRY(const std::string script, hash_script(found.script_dir));
  found.identity =
      fmt::format("triton {}, ptxas {}\n{}\n{}\n{}\n{}\n{}", found.version, found.cuda_version, found.python,
                  file_version((found.packages / "triton/_C/libtriton.so").string()),
                  file_version((found.packages / "triton/__init__.py").string()), file_version(found.ptxas), script);
  return found;
}

Result<ToolFiles> look_for_files(const TritonToolchain& toolchain) {
  std::vector<std::string> binaries = {toolchain.python, (toolchain.packages / "triton/_C/libtriton.so").string()};
  PASSNET_TRY(const std::vector<fs::path> modules, list_directory(toolchain.library / "lib-dynload"));
  for (const fs::path& file : modules) {
    if (file.extension() == ".so") binaries.push_back(file.string());
  }
  PASSNET_TRY(ToolFiles files, loaded_files(binaries));
  // All of the standard library but the packages that others have installed into it.
  PASSNET_TRY(const std::vector<fs::path> library, list_directory(toolchain.library));
  for (const fs::path& entry : library) {
    if (!entry.filename().string().ends_with("-packages")) files.paths.push_back(entry.string());
  }
  files.paths.push_back((toolchain.packages / "triton").string());
  files.paths.push_back((toolchain.script_dir / "passnet_triton").string());
  return files;
}

}  // namespace

Result<TritonToolchain> find_triton(int capability) {
  static std::mutex mutex;
  static std::map<int, TritonToolchain> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(capability); found != known.end()) return found->second;
  PASSNET_TRY(TritonToolchain found, look_for_triton(capability));
  return known.emplace(capability, std::move(found)).first->second;
}

Result<ToolFiles> triton_files(const TritonToolchain& toolchain) {
  static std::mutex mutex;
  static std::map<std::string, ToolFiles> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(toolchain.python); found != known.end()) return found->second;
  PASSNET_TRY(ToolFiles files, look_for_files(toolchain));
  return known.emplace(toolchain.python, std::move(files)).first->second;
}

}  // namespace passnet::pass
