#include "run/evaluate/provenance.h"

#include <fmt/format.h>

#include <mutex>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/hash.h"
#include "base/version.h"
#include "pass/source.h"
#include "pass/triton/build.h"
#include "run/evaluate/candidate_kind.h"
#include "run/worker/python_candidate.h"
#include "run/worker/pytorch.h"

namespace passnet::run {

namespace {

using Hashes = record::Provenance::Hashes;

void add_file(const SourceFiles& files, const fs::path& file, FileKind kind, Hashes& hashes,
              const std::string& prefix = {}) {
  if (const auto content = files.read(file, kind))
    hashes.emplace(prefix + file.filename().string(), sha256_hex(**content));
}

// A directory of passes, and what its list is called.
struct PassDirectory {
  fs::path path;
  std::string_view list;
  std::string prefix;  // of what is said of its files

  // Empty when the list is absent or malformed; evaluating then fails for that reason alone.
  std::vector<std::string> names(const SourceFiles& files) const {
    const auto text = files.read(path / list, FileKind::Kernel);
    if (!text) return {};
    auto names = pass::parse_pass_names(std::string(list), **text);
    return names ? std::move(*names) : std::vector<std::string>{};
  }
};

std::vector<PassDirectory> directories_of(const graphdir::Sample& sample, const pass::Selection& selection) {
  std::vector<PassDirectory> directories;
  if (!sample.pass_dir.empty()) directories.push_back({sample.pass_dir, pass::kListFile, ""});
  if (!selection.given.empty()) directories.push_back({selection.given, pass::kGivenListFile, "given/"});
  return directories;
}

// A program by what it is, not by what it calls itself: development builds share a version. Each is read once.
std::string hash_of_binary(const fs::path& path) {
  static std::mutex mutex;
  static std::map<fs::path, std::string> known;
  const std::lock_guard lock(mutex);
  std::string& hash = known[path];
  if (hash.empty()) {
    const auto content = read_file(path, FileKind::Program);
    hash = content ? sha256_hex(*content).substr(0, 12) : "unreadable";
  }
  return hash;
}

// The file `passnet` beside the running program, so that records of all its commands name the same binary; the running
// program itself where there is none.
fs::path passnet_binary() {
  const fs::path beside = beside_binary("passnet");
  return path_exists(beside) ? beside : "/proc/self/exe";
}

// "AMD EPYC 7R13 x 2 threads" without the threads, which are an option.
std::string processor_of(const std::string& hardware) {
  return hardware.ends_with(" threads") ? hardware.substr(0, hardware.rfind(" x ")) : hardware;
}

// RunOptions::host_code.
constexpr const char* kPython = "python";

}  // namespace

Hashes hash_passes(const SourceFiles& files, const graphdir::Sample& sample, const pass::Selection& selection) {
  Hashes hashes;
  for (const PassDirectory& directory : directories_of(sample, selection)) {
    add_file(files, directory.path / directory.list, FileKind::Kernel, hashes, directory.prefix);
    for (const std::string& name : directory.names(files)) {
      const fs::path pass = directory.path / (name + ".py");
      add_file(files, pass, FileKind::Graph, hashes, directory.prefix);
      for (const fs::path& imported : pass::imported_files(files, pass))
        add_file(files, imported, FileKind::Graph, hashes, directory.prefix);
    }
  }
  if (!selection.given.empty() && !sample.pass_dir.empty())
    add_file(files, sample.pass_dir / pass::kGivenListFile, FileKind::Kernel, hashes);
  return hashes;
}

Hashes hash_kernels(const SourceFiles& files, const graphdir::Sample& sample, const pass::Selection& selection,
                    bool on_gpu) {
  Hashes hashes;
  for (const PassDirectory& directory : directories_of(sample, selection)) {
    for (const std::string& name : directory.names(files))
      add_file(files, directory.path / (name + (on_gpu ? ".cu" : ".cpp")), FileKind::Kernel, hashes, directory.prefix);
  }
  return hashes;
}

Hashes hash_graph(const SourceFiles& files, const fs::path& directory) {
  Hashes hashes;
  for (const char* name : {"model.py", "weight_meta.py", "input_meta.py"})
    add_file(files, directory / name, FileKind::Graph, hashes);
  return hashes;
}

Hashes hash_objects(const std::vector<std::vector<pass::BuiltKernel>>& kernels) {
  Hashes hashes;
  for (size_t list = 0; list < kernels.size(); ++list) {
    for (size_t launch = 0; launch < kernels[list].size(); ++launch) {
      const pass::BuiltKernel& kernel = kernels[list][launch];
      hashes.emplace(fmt::format("{}.{} {}", list, launch, kernel.entry), kernel.sha256);
    }
  }
  return hashes;
}

pass::Selection selection_of(const record::RunOptions& options) {
  return {options.input_pass_dir, options.pass_order, options.pass_pattern_limit, options.pass_function_limit};
}

record::RunOptions resolve_options(const EvaluateOptions& options) {
  record::RunOptions resolved{options};
  resolved.device = options.gpu ? "cuda" : "cpu";
  if (!options.gpu) resolved.cuda_graph = "off";
  if (resolved.threads <= 0) resolved.threads = available_threads();
  if (options.host_code == HostCode::Fallback) resolved.host_code = record::kFallbackHostCode;
  if (options.host_code == HostCode::Python) resolved.host_code = kPython;
  std::error_code failed;
  const pass::Selection& selection = options.selection;
  if (!selection.given.empty()) resolved.input_pass_dir = fs::weakly_canonical(selection.given, failed).string();
  resolved.pass_order = selection.order;
  resolved.pass_pattern_limit = selection.pattern_limit;
  resolved.pass_function_limit = selection.function_limit;
  resolved.without = names_of(options.without);
  return resolved;
}

Result<EvaluateOptions> options_of(const record::RunOptions& recorded, const std::string& device) {
  EvaluateOptions options;
  static_cast<record::CommonOptions&>(options) = recorded;
  PASSNET_TRY(options.gpu, parse_device(device));
  if (recorded.host_code == record::kFallbackHostCode) options.host_code = HostCode::Fallback;
  if (recorded.host_code == kPython) options.host_code = HostCode::Python;
  options.selection = selection_of(recorded);
  return options;
}

std::map<std::string, std::string> versions_of(const EvaluateOptions& options, const Hello& hello) {
  std::map<std::string, std::string> versions;
  versions["passnet"] = fmt::format("{}, commit {}, {}", kVersion, kCommit, hash_of_binary(passnet_binary()));
  fs::path worker = options.worker;
  if (worker.empty()) {
    if (auto found = find_worker_binary()) worker = std::move(*found);
  }
  versions["worker"] = hash_of_binary(worker);
  versions["torch"] = hello.torch;
  versions["hardware"] = processor_of(hello.hardware);
  if (options.host_code != HostCode::Read) versions["candidate in Python"] = describe_python_candidate();
  if (candidate_kind(options.compiler).has_passes) {
    const auto compiler = pass::describe_toolchain(options.build, hello.architecture);
    versions["compiler"] = compiler ? *compiler : "none";
    if (options.gpu) {
      const auto triton = pass::describe_triton(hello.architecture);
      versions["triton"] = triton ? *triton : "none";
    }
  }
  return versions;
}

Result<std::map<std::string, std::string>> ask_versions(const EvaluateOptions& options) {
  Worker worker({options.worker, Role::Reference, resolve_options(options).threads, options.interrupted, options.gpu});
  PASSNET_TRY_VOID(worker.start());
  PASSNET_TRY(const Hello hello, start_up(worker));
  auto versions = versions_of(options, hello);
  const CandidateKind& kind = candidate_kind(options.compiler);
  if (kind.needs_pytorch() || !options.baseline.empty()) {
    PyTorchOptions how;
    how.mode = kind.is_packaged ? kAotInductor : "eager";
    PASSNET_TRY(Worker python, start_pytorch(how));
    PASSNET_TRY(const Hello of_python, greet_pytorch(python));
    versions[kPythonVersion] = of_python.torch;
    if (kind.is_packaged) versions[kAotInductorVersion] = of_python.compiler;
  }
  return versions;
}

record::Provenance provenance_of(const SourceFiles& files, const SourceFiles& graph_files,
                                 const graphdir::Sample& sample, size_t index, const EvaluateOptions& options,
                                 const std::map<std::string, std::string>& versions) {
  record::Provenance made_of;
  std::error_code failed;
  made_of.sample_path = fs::weakly_canonical(sample.path, failed).string();
  if (!sample.pass_dir.empty() && sample.pass_dir != sample.path / "pass_dir")
    made_of.pass_dir = fs::weakly_canonical(sample.pass_dir, failed).string();
  made_of.graph = hash_graph(graph_files, sample.graph_paths[index]);
  if (candidate_kind(options.compiler).has_passes) {
    made_of.passes = hash_passes(files, sample, options.selection);
    made_of.kernels = hash_kernels(files, sample, options.selection, options.gpu.has_value());
  }
  made_of.options = resolve_options(options);
  made_of.versions = versions;
  return made_of;
}

}  // namespace passnet::run
