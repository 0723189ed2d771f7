#include "pass/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"
#include "fx/lexer.h"
#include "fx/parser.h"
#include "pass/plan/parser.h"

namespace passnet::pass {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxListBytes = size_t{1} << 20;

/// NAME + extension beside the pass, or empty.
fs::path source_beside(fs::path path, const char* extension) {
  path.replace_extension(extension);
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) ? path : fs::path();
}

/// Says what functions the file has; one with nearly the name is pointed at.
Error missing_function(const PassFile& file, std::string_view name, std::string_view form) {
  std::vector<std::string_view> names;
  std::string found = file.pattern_offset ? "pattern" : "";
  for (const auto& [known, function] : file.program->functions) {
    if (known != "replacement_args") names.push_back(known);  // is what it says, and four letters from replacement_func
    found += (found.empty() ? "" : ", ") + std::string(known);
  }
  if (!file.entry.empty()) found += (found.empty() ? "" : ", ") + std::string("replacement_func");
  Error error = bad_pass(fmt::format("function {} is missing: found {}", quoted(name), found.empty() ? "none" : found),
                         SourceLoc{file.program->file});
  if (const std::string_view nearest = nearest_name(name, names); !nearest.empty()) {
    error.at = file.program->locate(file.program->functions.at(nearest).offset);
    return std::move(error).with_hint(fmt::format("did you mean {} for {}?", quoted(name), quoted(nearest)));
  }
  return std::move(error).with_hint(
      fmt::format("a pass has pattern, replacement_args, replacement_func and a plan; add '{}'", form));
}

/// Errors: parameters of replacement_args that do not fit those of the pattern.
Result<void> check_parameters(const PlanProgram& program, const ir::Graph& pattern) {
  const Function& arguments = program.functions.at("replacement_args");
  const size_t given = pattern.placeholder_count(), taken = arguments.parameters.size();
  if (given == taken || (taken > 0 && given + 1 >= taken && arguments.parameters.back().is_variadic)) return {};
  return bad_pass(fmt::format("replacement_args takes {} parameter{}, the pattern has {}", taken, taken == 1 ? "" : "s",
                              given),
                  program.locate(arguments.offset))
      .with_hint("give replacement_args the parameters of pattern, in the same order");
}

/// Stems of the .py files of a directory.
std::vector<std::string> pass_stems(const fs::path& directory) {
  std::vector<std::string> stems;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    if (entry.path().extension() == ".py") stems.push_back(entry.path().stem().string());
  }
  std::sort(stems.begin(), stems.end());
  return stems;
}

}  // namespace

Result<std::vector<std::string>> parse_pass_names(const std::string& file, std::string_view text) {
  PASSNET_TRY(const Json json, parse_json(text, file));
  const SourceLoc at{file};
  if (!json.is_array()) {
    return bad_input(fmt::format("found {}, expected a list of pass names", json.type_name()), at)
        .with_hint("write [\"Name\", …], in the order of application");
  }
  if (json.empty()) {
    return bad_input("the list of passes is empty", at).with_hint("write [\"Name\", …], in the order of application");
  }
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const Json& entry : json) {
    if (!entry.is_string()) {
      return bad_input(
          fmt::format("entry {}: found {}, expected the name of a pass", names.size(), quoted(entry.dump(), 40)), at);
    }
    names.push_back(entry.get<std::string>());
    const std::string& name = names.back();
    if (name.empty() || name == "." || name == ".." || name.find_first_of("/\\") != std::string::npos) {
      return bad_input(fmt::format("entry {}: found {}, expected the name of a pass without directories",
                                   names.size() - 1, quoted(name)),
                       at);
    }
    if (!seen.insert(name).second) return bad_input(fmt::format("pass {} is listed twice", quoted(name)), at);
  }
  return names;
}

Result<Pass> load_pass(const fs::path& path) {
  const std::string file = path.string();
  PASSNET_TRY(std::string content, read_regular_file(path, fx::kMaxTextBytes));
  const auto text = std::make_shared<const std::string>(std::move(content));
  PASSNET_TRY(PassFile parsed, parse_pass_file(file, text));
  if (!parsed.pattern_offset) return missing_function(parsed, "pattern", "def pattern(x): …");
  if (!parsed.program->functions.contains("replacement_args")) {
    return missing_function(parsed, "replacement_args", "def replacement_args(x): return (x,)");
  }
  if (parsed.entry.empty()) {
    return missing_function(parsed, "replacement_func", "def replacement_func(): return NAME");
  }
  Pass pass;
  size_t end = 0;
  auto pattern = fx::parse_function(file, text, *parsed.pattern_offset, &end);
  if (!pattern) {
    Error error = std::move(pattern).error();
    if (error.kind == Error::Kind::BadInput) error.kind = Error::Kind::BadPass;
    return std::move(error).with_note("in the pattern, which is written in the graph language of model.py");
  }
  PASSNET_TRY_VOID(check_parameters(*parsed.program, *pattern));
  pass.name = path.stem().string();
  pass.path = path;
  pass.text = text;
  pass.pattern = std::move(*pattern);
  pass.has_triton = !parsed.program->jit_kernels.empty();
  pass.plan = {parsed.program, std::string(parsed.entry)};
  pass.cpu_source = source_beside(path, ".cpp");
  pass.cuda_source = source_beside(path, ".cu");
  return pass;
}

Result<std::vector<fs::path>> list_passes(const fs::path& pass_dir) {
  const fs::path list = pass_dir / kListFile;
  std::error_code ignored;
  if (!fs::exists(list, ignored)) {
    return bad_input(fmt::format("the list of passes is missing: expected {}", quoted(list.string(), 200)))
        .with_hint("write a JSON list of pass names into it, in the order of application");
  }
  PASSNET_TRY(const std::string text, read_regular_file(list, kMaxListBytes));
  PASSNET_TRY(const std::vector<std::string> names, parse_pass_names(list.string(), text));
  std::vector<fs::path> paths;
  for (const std::string& name : names) {
    fs::path path = pass_dir / (name + ".py");
    if (!fs::is_regular_file(path, ignored)) {
      const std::vector<std::string> stems = pass_stems(pass_dir);
      const std::vector<std::string_view> known(stems.begin(), stems.end());
      const std::string_view nearest = nearest_name(name, known);
      return bad_input(fmt::format("pass {} is listed, but {} does not exist", quoted(name), quoted(name + ".py")),
                       SourceLoc{list.string()})
          .with_hint(nearest.empty() ? fmt::format("{} holds {} pass file{}", pass_dir.string(), stems.size(),
                                                   stems.size() == 1 ? "" : "s")
                                     : fmt::format("did you mean {}?", quoted(nearest)));
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

Result<std::vector<Pass>> load_passes(const fs::path& path) {
  std::vector<fs::path> files{path};
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    const bool is_sample = fs::is_directory(path / "pass_dir", ignored);
    PASSNET_TRY(files, list_passes(is_sample ? path / "pass_dir" : path));
  }
  std::vector<Pass> passes;
  for (const fs::path& file : files) {
    PASSNET_TRY(Pass loaded, load_pass(file));
    passes.push_back(std::move(loaded));
  }
  return passes;
}

}  // namespace passnet::pass
