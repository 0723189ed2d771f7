#include "pass/kernel/build.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/file/temporary_directory.h"
#include "base/hash.h"
#include "base/text/strings.h"
#include "pass/kernel/build_turn.h"
#include "pass/kernel/check/cubin_check.h"
#include "pass/kernel/check/elf_check.h"
#include "pass/kernel/check/ptx_check.h"
#include "pass/kernel/compiler.h"
#include "pass/kernel/gpu_compiler.h"
#include "pass/kernel/kernel_source.h"
#include "pass/kernel/object_cache.h"

namespace passnet::pass {
namespace {

/// The directory that holds passnet/kernel.h: above the binary (an installed or a built tree), else the
/// source tree's.
Result<fs::path> find_include_dir(const BuildOptions& options) {
  if (!options.include_dir.empty()) return absolute_path(options.include_dir);
  if (const fs::path header = find_above_binary("include/passnet/kernel.h"); !header.empty())
    return header.parent_path().parent_path();
  const fs::path source = PASSNET_INCLUDE_DIR;
  if (path_exists(source / "passnet/kernel.h")) return source;
  return resource_error("cannot find include/passnet/kernel.h above the running program")
      .with_hint("install PassNet with 'make install', or run it from its build tree");
}

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
      listed.empty()
          ? fmt::format("no kernel {} here: found no 'PASSNET_KERNEL {}(…)'", quoted(request.kernel), request.kernel)
          : fmt::format("no kernel {} here, only {}", quoted(request.kernel), join(listed, ", ")),
      SourceLoc{file, 0, 0});
  if (const auto near = nearest_name(request.kernel, names); !near.empty())
    error.hint = fmt::format("did you mean {}?", quoted(near));
  return error;
}

BuiltKernel describe(const fs::path& object, const std::string& bytes, const KernelRequest& request,
                     const std::string& parameters, bool from_cache) {
  BuiltKernel built{object,
                    std::string(is_processor(request.architecture) ? kRunPrefix : "") + request.kernel,
                    {},
                    sha256_hex(bytes),
                    from_cache};
  for (std::string_view parameter : split(parameters, ',')) {
    if (!parameter.empty()) built.parameters.emplace_back(parameter);
  }
  return built;
}

Error place(Error error, const KernelDefinition& kernel) {
  if (error.kind == Error::Kind::BadPass && !error.at) error.at = kernel.at;
  return error;
}

/// How a kernel is compiled for one kind of processor.
struct Toolchain {
  Compiler compiler;
  Target target = Target::Cpu;
  const char* unit = "unit.cpp";
  const char* object = "unit.so";
};

Result<Toolchain> find_toolchain(const KernelRequest& request) {
  Toolchain found;
  if (is_processor(request.architecture)) {
    PASSNET_TRY(found.compiler, find_compiler(request.architecture));
    return found;
  }
  PASSNET_TRY(found.compiler, find_gpu_compiler());
  found.compiler.identity += fmt::format("\n{} {}", request.architecture, request.block);
  found.target = Target::Gpu;
  found.unit = "unit.cu";
  found.object = "unit.cubin";
  return found;
}

/// In an order that does not depend on the file system.
Result<std::vector<fs::path>> headers_in(const fs::path& folder) {
  std::vector<fs::path> headers;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".h") headers.push_back(entry->path());
  }
  if (error) return resource_error(fmt::format("cannot list '{}': {}", folder.string(), error.message()));
  std::ranges::sort(headers);
  return headers;
}

Result<std::string> key_of(const Toolchain& toolchain, const fs::path& include_dir, const std::string& unit) {
  std::string identity = toolchain.compiler.identity;
  PASSNET_TRY(const std::vector<fs::path> headers, headers_in(include_dir / "passnet"));
  for (const fs::path& header : headers) {
    PASSNET_TRY(const std::string content, read_file(header, FileKind::Kernel));
    identity += sha256_hex(content);
  }
  return sha256_hex(identity + unit);
}

Result<std::string> check_built(const Toolchain& toolchain, const std::string& bytes, const KernelRequest& request,
                                const BuildOptions& options) {
  return toolchain.target == Target::Gpu
             ? check_cubin(bytes, request.kernel, request.constants)
             : check_object(bytes, request.kernel, {options.check_object, options.scan_code});
}

/// The source that the filter refuses, as it is: its kernels cannot be told apart.
Result<KernelSource> read_source(const std::string& file, std::string text, const KernelRequest& request,
                                 const BuildOptions& options) {
  if (options.filter_source) return parse_kernel_source(file, std::move(text));
  Result<KernelSource> parsed = parse_kernel_source(file, text);
  if (!parsed) return KernelSource{std::move(text), {{request.kernel, SourceLoc{file, 1, 1}}}};
  return parsed;
}

/// What is built without a check is never taken for what passed it.
std::string name_unchecked(const BuildOptions& options) {
  std::string unchecked;
  if (!options.filter_source) unchecked += "\nsource not filtered";
  if (!options.check_object) unchecked += "\nobject not checked";
  if (!options.scan_code) unchecked += "\ncode not scanned";
  return unchecked;
}

}  // namespace

Result<std::string> describe_toolchain(const BuildOptions& options, const std::string& architecture) {
  PASSNET_TRY(const Toolchain toolchain, find_toolchain({"", "", {}, 1, architecture}));
  PASSNET_TRY(const fs::path include_dir, find_include_dir(options));
  PASSNET_TRY(const std::string key, key_of(toolchain, include_dir, ""));
  return fmt::format("{}, {}", first_line(toolchain.compiler.identity), key.substr(0, 12));
}

Result<std::filesystem::path> builtin_source(bool for_gpu, const BuildOptions& options) {
  PASSNET_TRY(const fs::path include_dir, find_include_dir(options));
  return include_dir / "passnet/builtin" / (for_gpu ? "copy.cu" : "copy.cpp");
}

KernelFile BuiltKernel::file() const {
  KernelFile file{object.string(), entry, parameters, sha256};
  if (!triton) return file;
  // A launch also gives the kernel its scratch memory, after its own arguments.
  file.parameters.insert(file.parameters.end(), triton->scratch.size(), "*i8");
  file.shared_bytes = triton->shared_bytes;
  file.cluster = triton->cluster;
  return file;
}

Result<BuiltKernel> build_kernel(const KernelRequest& request, const BuildOptions& options) {
  const std::string file = request.source.string();
  std::string text;
  if (request.text) {
    text = *request.text;
  } else {
    PASSNET_TRY(text, read_file(request.source, FileKind::Kernel));
  }
  PASSNET_TRY(const KernelSource source, read_source(file, std::move(text), request, options));
  PASSNET_TRY(const KernelDefinition kernel, find_kernel(source, request));
  PASSNET_TRY(Toolchain toolchain, find_toolchain(request));
  toolchain.compiler.identity += name_unchecked(options);
  PASSNET_TRY(const std::string unit, render_unit(file, source, request.kernel, request.constants, toolchain.target));
  PASSNET_TRY(const fs::path include_dir, find_include_dir(options));
  PASSNET_TRY(const std::string key, key_of(toolchain, include_dir, unit));
  PASSNET_TRY(const CacheEntry entry,
              find_entry(options.cache_dir, key, fs::path(toolchain.object).extension().string()));
  const BuildTurn turn({entry.key});
  if (const auto bytes = read_kept(entry)) {
    // Checked again, as what is refused today may have been kept by an earlier version.
    if (const auto parameters = check_built(toolchain, *bytes, request, options))
      return describe(entry.object, *bytes, request, *parameters, true);
  }
  PASSNET_TRY(const TemporaryDirectory directory,
              TemporaryDirectory::make(entry.object.parent_path().parent_path(), "build-"));
  PASSNET_TRY_VOID(write_file(directory.path() / toolchain.unit, unit));
  const CompileRequest compile{.directory = directory.path(),
                               .include_dir = include_dir,
                               .file = file,
                               .kernel = kernel,
                               .timeout_s = options.timeout_s,
                               .interrupted = options.interrupted};
  if (toolchain.target == Target::Gpu) {
    PASSNET_TRY(const int64_t cluster, blocks_of_cluster(request.constants));
    PASSNET_TRY_VOID(compile_gpu_unit(toolchain.compiler, compile, {request.architecture, request.block, cluster}));
  } else {
    PASSNET_TRY_VOID(compile_unit(toolchain.compiler, compile));
  }
  PASSNET_TRY(const std::string bytes, read_file(directory.path() / toolchain.object, FileKind::Object));
  if (toolchain.target == Target::Gpu && options.scan_code) {
    PASSNET_TRY(const std::string ptx, read_file(directory.path() / "unit.ptx", FileKind::Object));
    if (auto checked = check_ptx(ptx, request.kernel); !checked) return place(std::move(checked).error(), kernel);
  }
  auto parameters = check_built(toolchain, bytes, request, options);
  if (!parameters) return place(std::move(parameters).error(), kernel);
  PASSNET_TRY_VOID(keep(entry, directory.path() / toolchain.object, bytes));
  return describe(entry.object, bytes, request, *parameters, false);
}

}  // namespace passnet::pass
