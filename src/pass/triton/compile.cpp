#include "pass/triton/compile.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/file/temporary_directory.h"
#include "base/text/strings.h"
#include "pass/kernel/compile_run.h"
#include "pass/triton/triton_error.h"
#include "sandbox/isolation.h"

namespace passnet::pass {
namespace {

constexpr int kStartSeconds = 120;  // Python and Triton imported on a busy machine

/// request.json of python/passnet_triton.
Json request_json(std::span<const TritonTask> tasks, const TritonLimits& limits) {
  Json modules = Json::array(), kernels = Json::array();
  std::map<const TritonModule*, size_t> known;
  for (const TritonTask& task : tasks) {
    Json kernel = to_json(*task.request);
    kernel["cuda_version"] = task.toolchain->cuda_version;
    for (const auto& module : task.request->modules) {
      const auto [at, fresh] = known.emplace(module.get(), known.size());
      if (fresh) {
        modules.push_back(
            {{"name", module->name}, {"file", file_in_jail(*module)}, {"text", valid_utf8(*module->text)}});
      }
      kernel["modules"].push_back(at->second);
    }
    kernels.push_back(std::move(kernel));
  }
  return {{"packages", tasks[0].toolchain->packages.string()},
          {"jobs", limits.jobs},
          {"timeout_s", limits.timeout_s},
          {"memory_bytes", limits.memory_bytes},
          {"modules", std::move(modules)},
          {"kernels", std::move(kernels)}};
}

Result<CompilerOutput> run_triton(const fs::path& directory, std::span<const TritonTask> tasks,
                                  const TritonLimits& limits) {
  const TritonToolchain& toolchain = *tasks[0].toolchain;
  PASSNET_TRY_VOID(write_file(directory / "request.json", dump(request_json(tasks, limits))));
  PASSNET_TRY_VOID(write_file(directory / "filter", sandbox::compiler_filter_bytes()));
  const auto rounds = static_cast<int>((tasks.size() + limits.jobs - 1) / limits.jobs);
  // Hashes the same in every run, and nothing of this machine's paths in what is made.
  return run_in_jail(
      {.argv = {toolchain.python, "-s", "-S", "-B", "-m", "passnet_triton"},
       .directory = directory,
       .files = files_or_warn(toolchain.python, triton_files(toolchain)),
       .environment = {"PYTHONPATH=" + toolchain.script_dir.string(), "PYTHONHASHSEED=0", "HOME=" + directory.string(),
                       "TRITON_BACKENDS_IN_TREE=1", "TRITON_DISABLE_LINE_INFO=1"},
       .timeout_s = kStartSeconds + rounds * kWallTimes * limits.timeout_s,
       .cpu_seconds = kStartSeconds + limits.timeout_s,
       .memory_bytes = limits.memory_bytes,
       .interrupted = limits.interrupted});
}

/// How the child of each task ended, by its line "INDEX how".
std::vector<std::string> read_ends(std::string_view output, size_t count) {
  std::vector<std::string> ends(count);
  for (const std::string_view line : split(output, '\n')) {
    size_t index = 0;
    const auto [end, failure] = std::from_chars(line.data(), line.data() + line.size(), index);
    if (failure == std::errc() && index < count && end != line.data() + line.size() && *end == ' ')
      ends[index] = std::string(end + 1, line.data() + line.size());
  }
  return ends;
}

Result<TritonAnswer> read_answer(const fs::path& directory, size_t index, const std::string& end,
                                 const TritonRequest& request, const TritonLimits& limits) {
  const auto read = [&](const char* kind) {
    Result<std::string> text = read_file(directory / fmt::format("{}.{}", index, kind), FileKind::Object);
    return text ? std::move(*text) : std::string();
  };
  const std::string log = read("log");
  if (end != "exit 0") return triton_end_error(end, log, request, limits_of(request, limits));
  std::string out = read("out");
  TritonAnswer answer;
  answer.facts = first_line(out);
  if (const auto error = triton_error(answer.facts, log, request, limits_of(request, limits))) return *error;
  if (out.size() > answer.facts.size()) answer.ptx = out.substr(answer.facts.size() + 1);
  return answer;
}

}  // namespace

CompileRequest limits_of(const TritonRequest& request, const TritonLimits& limits) {
  return {.directory = {},
          .include_dir = {},
          .file = request.at.file,
          .kernel = {request.kernel, request.at},
          .timeout_s = limits.timeout_s,
          .memory_bytes = limits.memory_bytes,
          .interrupted = limits.interrupted};
}

std::vector<Result<TritonAnswer>> compile_to_ptx(std::span<const TritonTask> tasks, const TritonLimits& limits) {
  std::vector<Result<TritonAnswer>> answers;
  const auto fail = [&](const Error& error) {
    answers.assign(tasks.size(), error);
    return answers;
  };
  if (tasks.empty()) return answers;
  const auto directory = TemporaryDirectory::make(limits.scratch, "triton-");
  if (!directory) return fail(directory.error());
  const auto output = run_triton(directory->path(), tasks, limits);
  if (!output) return fail(output.error());
  const std::vector<std::string> ends = read_ends(output->text, tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (ends[i].empty()) {
      const auto lines = split(trim(output->text), '\n');
      answers.emplace_back(resource_error(fmt::format("Triton {} does not run in the compile jail: {}",
                                                      tasks[i].toolchain->version, quoted(lines.back(), 300)))
                               .with_hint("'passnet doctor' says what is missing"));
    } else {
      answers.push_back(read_answer(directory->path(), i, ends[i], *tasks[i].request, limits));
    }
  }
  return answers;
}

}  // namespace passnet::pass
