#include "pass/kernel/gpu_compiler.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <optional>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/text/strings.h"
#include "pass/kernel/compile_run.h"
#include "pass/kernel/python_files.h"
#include "pass/kernel/tool_files.h"

namespace passnet::pass {
namespace {

constexpr const char* kInstall =
    "install a PyTorch for CUDA with all it depends on (pip install torch), or CUDA's nvcc";
constexpr const char* kFlags[] = {"-std=c++20", "-w"};

/// Directories where a libnvrtc may lie besides those of the loader.
std::vector<fs::path> library_directories() {
  const fs::path packages = python_packages() / "nvidia";
  return {packages / "cu13/lib", packages / "cuda_nvrtc/lib", "/usr/local/cuda/lib64"};
}

std::string find_nvrtc() {
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
    for (const fs::path& directory : library_directories()) {
      if (path_exists(directory / name)) return (directory / name).string();
    }
    // The loader's own search; the library is opened again in the jail.
    if (void* library = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL)) {
      const link_map* where = nullptr;
      const bool found = ::dlinfo(library, RTLD_DI_LINKMAP, &where) == 0;
      const std::string path = found ? where->l_name : name;
      ::dlclose(library);
      return path;
    }
  }
  return "";
}

Result<Compiler> look_for_compiler() {
  const fs::path helper = beside_binary("passnet-nvrtc");
  const std::string library = find_nvrtc();
  if (!library.empty() && ::access(helper.c_str(), X_OK) == 0)
    return Compiler{helper.string(), "nvrtc " + file_version(library), library};
  if (const std::string nvcc = find_on_path("nvcc", "/usr/local/cuda/bin"); !nvcc.empty())
    return Compiler{nvcc, "nvcc " + file_version(nvcc), ""};
  return resource_error("no compiler for kernels on the GPU: found neither NVRTC nor nvcc").with_hint(kInstall);
}

/// passnet-nvrtc, and NVRTC with the library of built-in functions that it opens by name from beside itself. nvcc runs a
/// shell and the host's compiler on the host's headers: for it the jail shows all files.
ToolFiles nvrtc_files(const Compiler& compiler) {
  if (compiler.library.empty()) return files_or_warn(compiler.path, resource_error("nvcc uses the host's headers"));
  std::vector<std::string> binaries = {compiler.path};
  const Result<std::vector<fs::path>> beside = list_directory(fs::path(compiler.library).parent_path());
  if (!beside) return files_or_warn(compiler.path, beside.error());
  for (const fs::path& file : *beside) {
    if (file.filename().string().starts_with("libnvrtc")) binaries.push_back(file.string());
  }
  return files_or_warn(compiler.path, loaded_files(binaries));
}

/// "passnet-kernel(3): error: identifier "x" is undefined" and the like.
struct Line {
  bool own = false;  // in the kernel's own text
  uint32_t line = 0;
  std::string kind, text;
};

std::optional<Line> parse_line(std::string_view text) {
  const size_t open = text.find('('), close = text.find("): ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  Line found;
  found.own = text.substr(0, open) == kKernelFile;
  found.line =
      static_cast<uint32_t>(std::strtoul(std::string(text.substr(open + 1, close - open - 1)).c_str(), nullptr, 10));
  std::string_view rest = text.substr(close + 3);
  for (const char* kind : {"catastrophic error", "error"}) {
    if (!rest.starts_with(kind)) continue;
    const size_t colon = rest.find(": ");
    if (colon == std::string_view::npos) return std::nullopt;
    found.kind = "error";
    found.text = rest.substr(colon + 2);
    return found;
  }
  return std::nullopt;
}

std::string plain(std::string text) {
  for (const char* assertion : {"static assertion failed with \"", "static assertion failed: "}) {
    if (!text.starts_with(assertion)) continue;
    text.erase(0, std::string_view(assertion).size());
    if (text.ends_with('"')) text.pop_back();
  }
  if (text.find("passnet_refuses_asm") != std::string::npos) return "'asm' is not allowed in a kernel";
  return text;
}

/// nvcc writes one kind of file at a time; argv ends in "-cubin", "-o", "unit.cubin".
Result<void> write_ptx(std::vector<std::string> argv, const Compiler& compiler, const CompileRequest& request) {
  argv.erase(argv.end() - 3, argv.end());
  argv.insert(argv.end(), {"-ptx", "-o", "unit.ptx"});
  PASSNET_TRY(const CompilerOutput output, run_compiler(std::move(argv), request, nvrtc_files(compiler)));
  if (succeeded(output)) return {};
  if (auto error = exhausted(output, request)) return std::move(*error);
  return resource_error(fmt::format("'{}' writes no PTX: {}", compiler.path, quoted(trim(output.text), 300)));
}

}  // namespace

Result<Compiler> find_gpu_compiler() {
  static std::mutex mutex;
  static std::optional<Compiler> known;
  const std::lock_guard lock(mutex);
  if (!known) {
    PASSNET_TRY(known, look_for_compiler());
  }
  return *known;
}

Error parse_gpu_compiler_errors(const std::string& output, const std::string& file, const KernelDefinition& kernel) {
  Error error = bad_pass("", kernel.at);
  for (std::string_view text : split(output, '\n')) {
    const std::optional<Line> line = parse_line(text);
    if (!line) continue;
    if (error.message.empty()) {
      error.message = plain(line->text);
      if (line->own) error.at = SourceLoc{file, line->line, 1};
    } else if (line->own && error.notes.size() < 2) {
      error.notes.push_back(fmt::format("{}:{}: {}", file, line->line, plain(line->text)));
    }
  }
  if (error.message.empty()) error.message = "the compiler stopped: " + quoted(trim(output), 300);
  return error;
}

Result<void> compile_gpu_unit(const Compiler& compiler, const CompileRequest& request, const GpuTarget& target) {
  std::vector<std::string> argv = {compiler.path};
  if (!compiler.library.empty()) argv.insert(argv.end(), {"--library", compiler.library, "--"});
  argv.insert(argv.end(), std::begin(kFlags), std::end(kFlags));
  argv.push_back("-arch=" + target.architecture);
  argv.push_back("-I" + request.include_dir.string());
  argv.push_back(fmt::format("-DPASSNET_BLOCK={}", target.block));
  if (target.cluster > 1) argv.push_back(fmt::format("-DPASSNET_CLUSTER={}", target.cluster));
  // As for g++; NVRTC does not let them be defined, and has no headers with macros that join words.
  if (compiler.library.empty()) argv.insert(argv.end(), {"-D__DATE__=\"\"", "-D__TIME__=\"\"", "-D__TIMESTAMP__=\"\""});
  if (compiler.library.empty()) argv.insert(argv.end(), {"unit.cu", "-cubin", "-o", "unit.cubin"});
  PASSNET_TRY(const CompilerOutput output, run_compiler(argv, request, nvrtc_files(compiler)));
  if (succeeded(output)) return compiler.library.empty() ? write_ptx(argv, compiler, request) : Result<void>{};
  if (auto error = exhausted(output, request)) return std::move(*error);
  return parse_gpu_compiler_errors(output.text, request.file, request.kernel);
}

}  // namespace passnet::pass
