#include "pass/build.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/file.h"
#include "base/hash.h"
#include "base/strings.h"
#include "pass/compiler.h"
#include "pass/elf_check.h"
#include "pass/kernel_source.h"

namespace passnet::pass {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHeaders[] = {"abi.h", "elements.h", "kernel.h", "math.h", "rows.h", "task.h", "vec.h"};

/// The directory that holds passnet/kernel.h: above the binary (an installed or a built tree), else the
/// source tree's.
Result<fs::path> find_include_dir(const BuildOptions& options) {
  if (!options.include_dir.empty()) return fs::absolute(options.include_dir);
  std::error_code error;
  const fs::path binary = fs::read_symlink("/proc/self/exe", error);
  for (fs::path above = binary.parent_path(); above.has_relative_path(); above = above.parent_path()) {
    if (fs::exists(above / "include/passnet/kernel.h", error)) return above / "include";
  }
  const fs::path source = PASSNET_INCLUDE_DIR;
  if (fs::exists(source / "passnet/kernel.h", error)) return source;
  return resource_error(fmt::format("cannot find include/passnet/kernel.h above '{}'", binary.string()))
      .with_hint("install PassNet with 'make install', or run it from its build tree");
}

/// A directory for one build, removed with everything in it.
class BuildDirectory {
 public:
  static Result<BuildDirectory> make(const fs::path& parent) {
    std::error_code error;
    fs::create_directories(parent, error);
    std::string name = (parent / "build-XXXXXX").string();
    if (!::mkdtemp(name.data())) return io_error("create a directory in", parent.string(), errno);
    return BuildDirectory(name);
  }
  explicit BuildDirectory(fs::path path) : path_(std::move(path)) {}
  BuildDirectory(BuildDirectory&& other) noexcept : path_(std::exchange(other.path_, fs::path())) {}
  BuildDirectory& operator=(BuildDirectory&&) = delete;
  ~BuildDirectory() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Result<KernelDefinition> find_kernel(const KernelSource& source, const KernelRequest& request) {
  std::vector<std::string_view> names;
  std::vector<std::string> listed;
  for (const KernelDefinition& definition : source.kernels) {
    if (definition.name == request.kernel) return definition;
    names.push_back(definition.name);
    listed.push_back(quoted(definition.name));
  }
  const std::string file = request.source.string();
  Error error = bad_pass(
      listed.empty() ? fmt::format("no kernel {} here: found no 'PASSNET_KERNEL {}(…)'",
                                   quoted(request.kernel), request.kernel)
                     : fmt::format("no kernel {} here, only {}", quoted(request.kernel), join(listed, ", ")),
      SourceLoc{file, 0, 0});
  if (const auto near = nearest_name(request.kernel, names); !near.empty())
    error.hint = fmt::format("did you mean {}?", quoted(near));
  return error;
}

BuiltKernel describe(const fs::path& object, const std::string& kernel, const std::string& parameters,
                     bool from_cache) {
  BuiltKernel built{object, "passnet_run_" + kernel, {}, from_cache};
  for (std::string_view parameter : split(parameters, ',')) {
    if (!parameter.empty()) built.parameters.emplace_back(parameter);
  }
  return built;
}

Error place(Error error, const KernelDefinition& kernel) {
  if (error.kind == Error::Kind::BadPass && !error.at) error.at = kernel.at;
  return error;
}

}  // namespace

Result<BuiltKernel> build_kernel(const KernelRequest& request, const BuildOptions& options) {
  const std::string file = request.source.string();
  PASSNET_TRY(std::string text, read_file(request.source));
  PASSNET_TRY(const KernelSource source, parse_kernel_source(file, std::move(text)));
  PASSNET_TRY(const KernelDefinition kernel, find_kernel(source, request));
  PASSNET_TRY(const std::string unit, render_unit(file, source, request.kernel, request.constants));
  PASSNET_TRY(const fs::path include_dir, find_include_dir(options));
  PASSNET_TRY(const Compiler compiler, find_compiler());
  std::string identity = compiler.identity;
  for (const char* header : kHeaders) {
    PASSNET_TRY(const std::string content, read_file(include_dir / "passnet" / header));
    identity += sha256_hex(content);
  }
  const std::string key = sha256_hex(identity + unit);
  const fs::path cache =
      fs::absolute(options.cache_dir.empty() ? passnet_home() / "kernels" : options.cache_dir);
  const fs::path object = cache / key.substr(0, 2) / (key + ".so");

  if (const auto bytes = read_file(object)) {
    if (const auto parameters = check_object(*bytes, request.kernel))
      return describe(object, request.kernel, *parameters, true);
  }
  PASSNET_TRY(const BuildDirectory directory, BuildDirectory::make(object.parent_path()));
  PASSNET_TRY_VOID(write_file(directory.path() / "unit.cpp", unit));
  PASSNET_TRY_VOID(compile_unit(compiler, {directory.path(), include_dir, file, kernel, options.timeout_s}));
  PASSNET_TRY(const std::string bytes, read_file(directory.path() / "unit.so"));
  auto parameters = check_object(bytes, request.kernel);
  if (!parameters) return place(std::move(parameters).error(), kernel);
  if (::rename((directory.path() / "unit.so").c_str(), object.c_str()) != 0)
    return io_error("rename to", object.string(), errno);
  return describe(object, request.kernel, *parameters, false);
}

}  // namespace passnet::pass
