#include "run/worker/python_files.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <set>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/text/strings.h"
#include "pass/kernel/compile_run.h"
#include "sandbox/process.h"

namespace passnet::run {

namespace {

constexpr size_t kMostCopied = 1000;

/// The first line says versions, each other one a path. Of a prefix only what an interpreter has there: it may be /usr.
constexpr const char* kTellsAboutItself = R"(
import importlib.util, os, platform, sys, sysconfig
from importlib.metadata import version
versions = f"Python {platform.python_version()}, torch {version('torch')}"
try:
    versions += f", triton {version('triton')}"
except ImportError:
    pass
paths, link = [], sys.executable
while os.path.islink(link):
    paths.append(link)
    link = os.path.join(os.path.dirname(link), os.readlink(link))
paths.append(link)
for prefix in (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix):
    paths += [os.path.join(prefix, part) for part in ("bin", "lib", "lib64", "include", "pyvenv.cfg")]
paths += [path for name, path in sysconfig.get_paths().items() if name != "data"]
for name in ("torch", "triton"):
    if found := importlib.util.find_spec(name):
        paths += found.submodule_search_locations
print(versions, *dict.fromkeys(os.path.normpath(path) for path in paths), sep="\n")
)";

constexpr const char* kSystem[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/usr/bin", "/usr/sbin", "/usr/lib",
                                   "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/include", "/usr/local/bin",
                                   "/usr/local/sbin", "/usr/local/lib", "/usr/local/lib64", "/usr/local/libexec",
                                   "/usr/local/include", "/nix/store", "/gnu/store",
                                   // which library and which compiler is meant
                                   "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
                                   // PyTorch chooses its kernels by the processor
                                   "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu",
                                   "/sys/devices/system/node", "/dev/null", "/dev/random", "/dev/urandom"};
constexpr const char* kOfCuda[] = {"/usr/local/nvidia", "/etc/nvidia",  "/sys/bus",
                                   "/sys/class",        "/sys/devices", "/sys/module"};

/// Appends the entries of a directory that are wanted.
void add_entries(const fs::path& directory, bool (*wanted)(const fs::directory_entry&),
                 std::vector<std::string>& files) {
  std::error_code failure;
  for (fs::directory_iterator entry(directory, failure), end; !failure && entry != end; entry.increment(failure)) {
    if (wanted(*entry)) files.push_back(entry->path().string());
  }
}

std::string name_of(const fs::directory_entry& entry) { return entry.path().filename().string(); }

bool is_cuda(const fs::directory_entry& entry) { return name_of(entry).starts_with("cuda"); }
bool is_gpu(const fs::directory_entry& entry) {
  std::error_code failure;
  return name_of(entry).starts_with("nvidia") && entry.is_character_file(failure);
}
/// Neither a process nor a link to one.
bool is_of_kernel(const fs::directory_entry& entry) {
  std::error_code failure;
  return !entry.is_symlink(failure) && name_of(entry).find_first_not_of("0123456789") != std::string::npos;
}

void keep_existing(std::vector<std::string>& files) {
  std::erase_if(files, [](const std::string& path) { return !path_exists(path); });
}

Result<PythonFacts> facts_of(const std::string& python) {
  PASSNET_TRY(const pass::CompilerOutput output, pass::ask_compiler({python, "-s", "-c", kTellsAboutItself}));
  if (!pass::succeeded(output))
    return resource_error(fmt::format("'{}' cannot import PyTorch: {}", python, quoted(trim(output.text), 200)))
        .with_hint("PASSNET_PYTHON names a Python that has PyTorch; 'make test' sets one up");
  PythonFacts facts;
  for (const std::string_view line : split(trim(output.text), '\n')) {
    if (facts.versions.empty())
      facts.versions = line;
    else
      facts.files.emplace_back(line);
  }
  keep_existing(facts.files);
  return facts;
}

/// The files below a directory, as copy_passes() takes them.
Result<std::vector<fs::path>> files_below(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (fs::recursive_directory_iterator entry(directory, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    const bool is_directory = entry->symlink_status(failure).type() == fs::file_type::directory;
    if (name.starts_with('.') || name == "__pycache__") {
      if (is_directory) entry.disable_recursion_pending();
    } else if (!is_directory) {
      files.push_back(entry->path());
    }
    if (files.size() > kMostCopied)
      return bad_input(
                 fmt::format("{} holds more than {} files, which would all be copied for the host code of its passes",
                             quoted(directory.string(), 200), kMostCopied))
          .with_hint("leave in it what the passes need");
  }
  if (failure) return io_error("read", directory.string(), failure.value());
  return files;
}

}  // namespace

Result<PythonFacts> ask_python(const std::string& python) {
  static std::mutex mutex;
  static std::map<std::string, PythonFacts> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(python); found != known.end()) return found->second;
  PASSNET_TRY(PythonFacts facts, facts_of(python));
  return known.emplace(python, std::move(facts)).first->second;
}

std::vector<std::string> system_files(bool gpu) {
  std::vector<std::string> files(std::begin(kSystem), std::end(kSystem));
  if (gpu) {
    files.insert(files.end(), std::begin(kOfCuda), std::end(kOfCuda));
    add_entries("/usr/local", is_cuda, files);
    for (const char* devices : {"/dev", "/dev/nvidia-caps"}) add_entries(devices, is_gpu, files);
    // CUDA's driver reads much of /proc. A candidate without its own root has no /proc of its own either.
    if (!sandbox::own_root_available(gpu)) add_entries("/proc", is_of_kernel, files);
  }
  keep_existing(files);
  return files;
}

Result<std::vector<fs::path>> copy_passes(const std::vector<fs::path>& passes, const SourceFiles& sources,
                                          const fs::path& directory) {
  std::vector<fs::path> copies;
  std::set<fs::path> wanted;
  for (const fs::path& pass : passes) {
    const fs::path whole = pass.lexically_normal();
    copies.push_back(directory / whole.relative_path());
    wanted.insert(whole.parent_path());
  }
  std::map<fs::path, SourceFiles::Text> texts;
  for (const fs::path& from : wanted) {
    if (path_exists(directory / from.relative_path())) continue;
    PASSNET_TRY(const std::vector<fs::path> files, files_below(from));
    for (const fs::path& file : files) {
      PASSNET_TRY(texts[directory / file.relative_path()], sources.read(file, FileKind::Graph));
    }
  }
  for (const auto& [copy, text] : texts) PASSNET_TRY_VOID(write_file(copy, *text));
  return copies;
}

}  // namespace passnet::run
