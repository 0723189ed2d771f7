#include "pass/kernel/compiler.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <mutex>

#include "base/file/file.h"
#include "base/hash.h"
#include "base/text/strings.h"
#include "pass/kernel/compile_run.h"

namespace passnet::pass {
namespace {

constexpr int kOldestCompiler = 12;  // the first with _Float16 in C++
/// NaN and infinities keep their meaning; only what a kernel cannot observe is given up: errno, trap flags,
/// and the rounding between a product and its sum. No host header is in reach.
const std::vector<std::string>& flags() {
  static const std::vector<std::string> list = {
      "-std=c++20", "-O3",
      // Half precision computes in float everywhere, and rounds where the kernel says, on
      // processors with half arithmetic of their own too (which would fuse a product and its sum).
      "-mno-avx512fp16", "-ffreestanding", "-fbuiltin", "-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math",
      "-ffp-contract=fast", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fno-stack-protector",
      "-fno-jump-tables",  // a jump by table could go anywhere, as far as code_check.h can see
      "-fno-asynchronous-unwind-tables", "-fcf-protection=none", "-fno-ident",
      "-g1",  // the line table alone is read, see line_table.h
      "-gdwarf-4", "-gz=none", "-fvisibility=hidden", "-fPIC", "-w",
      // The source filter refuses these; headers of the compiler have macros that join words, too.
      "-D__DATE__=\"\"", "-D__TIME__=\"\"", "-D__TIMESTAMP__=\"\"", "-nostdinc", "-nostdinc++", "-fmax-errors=3",
      "-fno-diagnostics-show-caret", "-fdiagnostics-color=never", "-fmessage-length=0", "-ftemplate-backtrace-limit=2",
      "-shared", "-nostdlib", "-Wl,-z,now,-z,relro,-z,noexecstack,-z,separate-code,--build-id=none"};
  return list;
}

/// What -march=native looks at.
std::string processor() {
  const std::string all = read_file("/proc/cpuinfo", FileKind::System).value_or("");
  std::string text;
  for (const std::string_view line : split(all, '\n')) {
    if (line.empty()) break;
    for (const char* field :
         {"vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU implementer", "CPU part"}) {
      if (line.starts_with(field)) text += std::string(line) + "\n";
    }
  }
  return text;
}

Result<Compiler> identify(const std::string& path, const std::string& architecture) {
  PASSNET_TRY(const CompilerOutput output, ask_compiler({path, "--version"}));
  const std::string version(split(output.text, '\n')[0]);
  if (!succeeded(output)) return resource_error(fmt::format("'{}' does not run: {}", path, version));
  const int major = std::atoi(version.substr(version.rfind(' ') + 1).c_str());
  if (major < kOldestCompiler) {
    return resource_error(fmt::format("'{}' is version {}, kernels need g++ {} or later", path, major, kOldestCompiler))
        .with_hint(fmt::format("apt-get install g++-{}", kOldestCompiler));
  }
  PASSNET_TRY(const std::string binary, read_file(path, FileKind::Program));
  const std::string what = version + "\n" + sha256_hex(binary) + "\n" + join(flags(), " ") + "\n";
  if (!architecture.empty()) return Compiler{path, what + architecture, "", architecture};
  return Compiler{path, what + processor(), "", "native"};
}

/// The headers that the compiler brings for itself: <stdint.h> and the like.
Result<std::string> header_directory(const std::string& path) {
  PASSNET_TRY(const CompilerOutput output, ask_compiler({path, "-print-file-name=include"}));
  return std::string(trim(output.text));
}

struct Diagnostic {
  std::string file, kind, text;
  uint32_t line = 0, column = 0;
};

/// "file:12:5: error: text" and the like; `kind` is what stands before the text, or empty.
std::optional<Diagnostic> parse_diagnostic(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  Diagnostic out;
  out.file = line.substr(0, colon);
  std::string_view rest = line.substr(colon + 1);
  for (uint32_t* number : {&out.line, &out.column}) {
    const size_t end = rest.find(':');
    if (end == std::string_view::npos || end == 0 || rest.find_first_not_of("0123456789") != end) break;
    *number = static_cast<uint32_t>(std::strtoul(std::string(rest.substr(0, end)).c_str(), nullptr, 10));
    rest.remove_prefix(end + 1);
  }
  rest = trim(rest);
  for (const char* kind : {"fatal error", "error", "note"}) {
    if (!rest.starts_with(std::string(kind) + ": ")) continue;
    out.kind = kind[0] == 'f' ? "error" : kind;
    rest.remove_prefix(std::string_view(kind).size() + 2);
    break;
  }
  out.text = trim(rest);
  return out;
}

/// "… [-fpermissive]" without the flag, "static assertion failed: text" without the first part.
std::string plain(std::string text) {
  constexpr std::string_view assertion = "static assertion failed: ";
  if (text.starts_with(assertion)) text.erase(0, assertion.size());
  if (const size_t flag = text.rfind(" [-"); flag != std::string::npos && text.ends_with(']')) text.resize(flag);
  if (text.find("passnet_refuses_asm") != std::string::npos) return "'asm' is not allowed in a kernel";
  return text;
}

}  // namespace

bool is_processor(std::string_view architecture) {
  return architecture.empty() || architecture.starts_with("x86-64-v");
}

Result<Compiler> find_compiler(const std::string& architecture) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>, Compiler> known;
  const std::string found_path = find_on_path("g++");
  if (found_path.empty())
    return resource_error("no g++ on PATH to compile kernels with").with_hint("apt-get install g++");
  // A compiler finds its parts beside itself, and in the jail a link's target stands at the link's place.
  std::error_code failure;
  const std::string path = std::filesystem::canonical(found_path, failure).string();
  if (failure) return resource_error(fmt::format("'{}' leads nowhere", found_path));
  const std::lock_guard lock(mutex);
  const std::pair key(path, architecture);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  PASSNET_TRY(const Compiler compiler, identify(path, architecture));
  return known.emplace(key, compiler).first->second;
}

Error parse_compiler_errors(const std::string& output, const std::string& file, const KernelDefinition& kernel) {
  Error error = bad_pass("", kernel.at);
  std::optional<SourceLoc> used_from;
  std::string instantiated;
  bool placed = false;             // the first error is in the kernel's own text
  std::vector<std::string> later;  // errors after the first
  for (std::string_view line : split(output, '\n')) {
    if (const size_t parameter = line.find("passnet::detail::Parameter<");
        parameter != std::string_view::npos && instantiated.empty()) {
      const size_t start = parameter + std::string_view("passnet::detail::Parameter<").size();
      instantiated = line.substr(start, line.rfind('>') - start);
    }
    const auto diagnostic = parse_diagnostic(line);
    if (!diagnostic) continue;
    const bool ours = diagnostic->file == kKernelFile;
    const SourceLoc at{file, diagnostic->line, diagnostic->column};
    if (ours && diagnostic->text.find("required from") != std::string::npos) used_from = at;
    if (diagnostic->kind == "error") {
      const SourceLoc place = ours ? at : used_from.value_or(kernel.at);
      if (error.message.empty()) {
        error.message = plain(diagnostic->text);
        error.at = place;
        placed = ours;
        if (!ours && !instantiated.empty()) error.message += fmt::format(", found '{}'", instantiated);
      } else if (ours) {
        later.push_back(fmt::format("{}:{}:{}: {}", file, at.line, at.column, plain(diagnostic->text)));
      }
      used_from.reset();
    } else if (diagnostic->kind != "note" || !ours || !later.empty()) {
      continue;
    } else if (diagnostic->text.starts_with("in expansion of macro")) {
      if (!placed) error.at = at;  // the last one is the outermost: where the kernel's own text is
    } else if (error.notes.size() < 2) {
      error.notes.push_back(fmt::format("{}:{}:{}: {}", file, at.line, at.column, diagnostic->text));
    }
  }
  error.notes.insert(error.notes.end(), later.begin(), later.end());
  if (error.message.empty()) error.message = "the compiler stopped: " + quoted(trim(output), 300);
  return error;
}

std::vector<std::string> dependency_names(std::string_view text) {
  std::vector<std::string> names(1);
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\n';
    if ((c == '\\' && (next == ' ' || next == '#' || next == '\\')) || (c == '$' && next == '$')) {
      names.back() += next;
      ++i;
    } else if (c == ' ' || c == '\n' || c == '\\') {
      if (!names.back().empty()) names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  if (names.back().empty()) names.pop_back();
  return names;
}

Result<void> compile_unit(const Compiler& compiler, const CompileRequest& request) {
  PASSNET_TRY(const std::string own_headers, header_directory(compiler.path));
  std::vector<std::string> argv = {compiler.path, "-march=" + compiler.processor};
  argv.insert(argv.end(), flags().begin(), flags().end());
  for (const std::string& word :
       {std::string("-isystem"), own_headers, "-I" + request.include_dir.string(), std::string("-MD"),
        std::string("-MF"), std::string("unit.d"), "-fdebug-prefix-map=" + request.directory.string() + "=.",
        std::string("-o"), std::string("unit.so"), std::string("unit.cpp"), std::string("-lgcc")}) {
    argv.push_back(word);
  }
  PASSNET_TRY(const CompilerOutput output,
              run_compiler(argv, request, files_or_warn(compiler.path, compiler_files(compiler.path))));
  if (auto error = exhausted(output, request); error && !succeeded(output)) return std::move(*error);
  if (!succeeded(output)) return parse_compiler_errors(output.text, request.file, request.kernel);

  PASSNET_TRY(const std::string dependencies, read_file(request.directory / "unit.d", FileKind::Kept));
  for (const std::string& name : dependency_names(dependencies)) {
    if (name == "unit.so:" || name == "unit.cpp" || name.starts_with(own_headers + "/") ||
        name.starts_with(request.include_dir.string() + "/passnet/"))
      continue;
    return bad_pass(fmt::format("kernel '{}' includes {}, only <passnet/kernel.h> may be included", request.kernel.name,
                                quoted(name, 200)),
                    request.kernel.at);
  }
  return {};
}

}  // namespace passnet::pass
