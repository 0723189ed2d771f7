#include "pass/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/json/json.h"
#include "base/text/strings.h"
#include "fx/syntax/lexer.h"
#include "fx/syntax/parser.h"
#include "pass/plan/syntax.h"
#include "pass/plan/syntax/built_pattern.h"
#include "pass/plan/syntax/parser.h"

namespace passnet::pass {

namespace {

constexpr size_t kMostFiles = 64;  // that one pass imports

/// NAME + extension beside the pass, or empty.
fs::path source_beside(fs::path path, const char* extension) {
  path.replace_extension(extension);
  return entry_exists(path) ? path : fs::path();
}

/// Says what functions the file has; one with nearly the name is pointed at.
Error missing_function(const PlanProgram& file, std::string_view name, std::string_view form) {
  std::set<std::string_view> defined;
  for (const Function& function : file.functions) {
    if (function.outer == nullptr && function.name != "lambda") defined.insert(function.name);
  }
  std::vector<std::string_view> names;
  std::string found;
  const auto add = [&](std::string_view one) { found += (found.empty() ? "" : ", ") + std::string(one); };
  if (defined.contains("pattern")) add("pattern");
  for (const std::string_view one : defined) {
    if (one != "pattern" && one != "replacement_func") add(one);
    // These are near one another, but they are what they say.
    if (one != "pattern" && !one.starts_with("replacement_")) names.push_back(one);
  }
  if (defined.contains("replacement_func")) add("replacement_func");
  Error error = bad_pass(fmt::format("function {} is missing: found {}", quoted(name), found.empty() ? "none" : found),
                         SourceLoc{file.file});
  if (const std::string_view nearest = nearest_name(name, names); !nearest.empty()) {
    error.at = file.locate(file.find_function(nearest)->offset);
    return std::move(error).with_hint(fmt::format("did you mean {} for {}?", quoted(name), quoted(nearest)));
  }
  return std::move(error).with_hint(
      fmt::format("a pass has pattern, replacement_args, replacement_func and a plan; add '{}'", form));
}

/// Errors: parameters of replacement_args that do not fit those of the pattern. What is imported or made by a call shows
/// at the first site.
Result<void> check_parameters(const PlanProgram& program, const ir::Graph& pattern) {
  const Function* arguments = program.find_function("replacement_args");
  if (arguments == nullptr) return {};
  const auto is_variadic = [](const Parameter& one) { return one.kind != ParameterKind::Plain; };
  const size_t given = pattern.placeholder_count(), taken = arguments->parameters.size();
  const auto required = static_cast<size_t>(std::ranges::count_if(
      arguments->parameters, [&](const Parameter& one) { return !is_variadic(one) && one.default_value == nullptr; }));
  const bool takes_more = std::ranges::any_of(arguments->parameters, is_variadic);
  if (given >= required && (given <= taken || takes_more)) return {};
  return bad_pass(fmt::format("replacement_args takes {} parameter{}, the pattern has {}", taken, taken == 1 ? "" : "s",
                              given),
                  program.locate(arguments->offset))
      .with_hint("give replacement_args the parameters of pattern, in the same order");
}

/// The words of a file's imports, and, when it looks for files by itself, of its strings: names of files that it may mean.
std::set<std::string> imported_names(const PlanProgram& program) {
  std::set<std::string> names;
  const auto add = [&](std::string_view dotted) { names.emplace(dotted.substr(dotted.rfind('.') + 1)); };
  bool searches = false;
  for (const Import& import : program.imports) {
    searches |= import.module.starts_with("importlib");
    add(import.module);
    if (!import.name.empty()) names.emplace(import.name);
  }
  for (const Expr& expr : program.exprs) {
    const auto* text = get_if<std::string>(expr.value);
    if (!searches || text == nullptr) continue;
    const std::string_view words = *text;
    add(words.ends_with(".py") ? words.substr(words.rfind('/') + 1, words.size() - 3 - (words.rfind('/') + 1)) : words);
  }
  return names;
}

/// A file beside a pass, parsed or with what is wrong with it.
struct FoundFile {
  fs::path path;
  Result<std::shared_ptr<const PlanProgram>> program;
};

Result<std::shared_ptr<const PlanProgram>> parse_file(const SourceFiles& files, const fs::path& path) {
  PASSNET_TRY(SourceFiles::Text text, files.read(path, FileKind::Graph));
  return parse_pass_file(path.string(), std::move(text));
}

/// The files that a pass may import, those that these may, and so on.
std::vector<FoundFile> find_files(const SourceFiles& files, const fs::path& path,
                                  std::shared_ptr<const PlanProgram> own) {
  std::vector<FoundFile> found;
  std::set<std::string> known{own->name};
  std::vector<std::shared_ptr<const PlanProgram>> pending{std::move(own)};
  while (!pending.empty()) {
    const auto program = std::move(pending.back());
    pending.pop_back();
    for (const std::string& name : imported_names(*program)) {
      const fs::path beside = path.parent_path() / (name + ".py");
      if (!is_identifier(name) || !entry_exists(beside) || !known.insert(name).second) continue;
      found.push_back({beside, parse_file(files, beside)});
      if (found.back().program && found.size() <= kMostFiles) pending.push_back(*found.back().program);
    }
  }
  return found;
}

/// Errors: of the files themselves.
Result<PlanFiles> load_files(const SourceFiles& sources, const fs::path& path,
                             const std::shared_ptr<const PlanProgram>& own) {
  PlanFiles files{own};
  files.directory = absolute_path(path).parent_path().filename().string();
  for (FoundFile& file : find_files(sources, path, own)) {
    if (files.beside.size() == kMostFiles)
      return bad_pass(fmt::format("the pass imports more than {} files", kMostFiles), SourceLoc{path.string()});
    PASSNET_TRY(auto program, std::move(file.program));
    files.beside.push_back(std::move(program));
  }
  return files;
}

/// The name that a file gives another one to: of the last `name = other`; empty: none.
std::string_view alias_of(const PlanProgram& file, std::string_view name) {
  std::string_view alias;
  for (const Statement& statement : file.body) {
    if (statement.kind == StatementKind::Define && statement.function->name == name) alias = {};
    if (statement.kind != StatementKind::Assign || statement.value->kind != ExprKind::Name) continue;
    for (const Expr* target : statement.targets)
      if (target->kind == ExprKind::Name && target->name == name) alias = statement.value->name;
  }
  return alias;
}

/// Where the function stands that is called `pattern`, by whatever name: in the file, or in one that it is imported from.
/// Null: there is none.
const Function* find_pattern(const PlanFiles& files, const PlanProgram*& in) {
  std::string_view name = "pattern";
  for (size_t hops = 0; hops <= 2 * files.beside.size() + 2; ++hops) {
    if (const std::string_view alias = alias_of(*in, name); !alias.empty()) {
      name = alias;
      continue;
    }
    if (const Function* pattern = in->find_function(name)) return pattern;
    const auto import = std::ranges::find(in->imports, name, &Import::bound);
    if (import == in->imports.end() || import->name.empty()) return nullptr;
    name = import->name;
    in = files.find(import->module);
    if (in == nullptr) return nullptr;
  }
  return nullptr;
}

Result<ir::Graph> parse_graph(const PlanFiles& files, const PlanProgram& in, std::shared_ptr<const std::string> text,
                              size_t offset, Budget& steps) {
  PASSNET_TRY(fx::FreeValues constants, global_constants(files, in, steps));
  auto graph = fx::parse_function(in.file, std::move(text), offset, nullptr, std::move(constants));
  if (graph) return graph;
  Error error = std::move(graph).error();
  if (error.kind == Error::Kind::BadInput) error.kind = Error::Kind::BadPass;
  return std::move(error).with_note("in the pattern, which is written in the graph language of model.py");
}

Result<ir::Graph> read_pattern(const PlanFiles& files, Budget& steps) {
  PASSNET_TRY(BuiltPattern built, find_built_pattern(files));
  if (built.in != nullptr) {
    auto text = std::make_shared<const std::string>(std::move(built.text));
    return parse_graph(files, *built.in, text, text->find_first_not_of('\n'), steps);
  }
  const PlanProgram* in = files.own.get();
  const Function* pattern = find_pattern(files, in);
  if (pattern == nullptr) return missing_function(*files.own, "pattern", "def pattern(x): …");
  return parse_graph(files, *in, in->text, pattern->offset, steps);
}

/// Stems of the .py files of a directory, sorted; none where it cannot be read.
std::vector<std::string> pass_stems(const fs::path& directory) {
  std::vector<std::string> stems;
  const Result<std::vector<fs::path>> files = list_directory(directory);
  if (!files) return stems;
  for (const fs::path& file : *files) {
    if (file.extension() == ".py") stems.push_back(file.stem().string());
  }
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

Result<Pass> load_pass(const fs::path& path, const LoadOptions& options) {
  return load_pass(SourceFiles(), path, options);
}

Result<Pass> load_pass(const SourceFiles& sources, const fs::path& path, const LoadOptions& options) {
  Budget steps(kLoading, {.interrupted = options.interrupted});
  PASSNET_TRY(const SourceFiles::Text text, sources.read(path, FileKind::Graph));
  PASSNET_TRY(const auto program, parse_pass_file(path.string(), text));
  PASSNET_TRY(PlanFiles files, load_files(sources, path, program));
  PASSNET_TRY(ir::Graph pattern, read_pattern(files, steps));
  if (!program->names.contains("replacement_args")) {
    return missing_function(*program, "replacement_args", "def replacement_args(x): return (x,)");
  }
  if (!program->names.contains("replacement_func")) {
    return missing_function(*program, "replacement_func", "def replacement_func(): return NAME");
  }
  PASSNET_TRY_VOID(check_parameters(*program, pattern));
  Pass pass;
  pass.name = path.stem().string();
  pass.path = path;
  pass.files = sources;
  pass.text = text;
  pass.pattern = std::move(pattern);
  const auto has_kernels = [](const auto& one) { return !one->kernels.empty(); };
  pass.has_triton = has_kernels(program) || std::ranges::any_of(files.beside, has_kernels);
  PASSNET_TRY(pass.plan, make_plan(std::move(files), options, steps));
  pass.cpu_source = source_beside(path, ".cpp");
  pass.cuda_source = source_beside(path, ".cu");
  return pass;
}

std::vector<fs::path> imported_files(const SourceFiles& files, const fs::path& path) {
  std::vector<fs::path> paths;
  const auto own = parse_file(files, path);
  if (!own) return paths;
  for (const FoundFile& file : find_files(files, path, *own)) paths.push_back(file.path);
  return paths;
}

Result<std::vector<fs::path>> list_passes(const SourceFiles& files, const fs::path& pass_dir,
                                          std::string_view list_file) {
  const fs::path list = pass_dir / list_file;
  if (!entry_exists(list)) {
    return bad_input(fmt::format("the list of passes is missing: expected {}", quoted(list.string(), 200)))
        .with_hint("write a JSON list of pass names into it, in the order of application");
  }
  PASSNET_TRY(const SourceFiles::Text text, files.read(list, FileKind::Kernel));
  PASSNET_TRY(const std::vector<std::string> names, parse_pass_names(list.string(), *text));
  std::vector<fs::path> paths;
  for (const std::string& name : names) {
    fs::path path = pass_dir / (name + ".py");
    if (!entry_exists(path)) {
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

Result<std::vector<Pass>> load_passes(const fs::path& path, const LoadOptions& options) {
  const SourceFiles sources({path});
  std::vector<fs::path> files{path};
  if (directory_exists(path)) {
    const bool is_sample = directory_exists(path / "pass_dir");
    const bool has_graphs = path_exists(path / "graph_list.txt") || directory_exists(path / "graphs");
    if (!is_sample && has_graphs && !path_exists(path / kListFile)) {
      return bad_input(fmt::format("sample '{}' has no pass_dir", path.string()))
          .with_hint(fmt::format("'passnet pass new NAME {0}/pass_dir --from {0}' begins one", path.string()));
    }
    PASSNET_TRY(files, list_passes(sources, is_sample ? path / "pass_dir" : path));
  }
  std::vector<Pass> passes;
  for (const fs::path& file : files) {
    PASSNET_TRY(Pass loaded, load_pass(sources, file, options));
    passes.push_back(std::move(loaded));
  }
  return passes;
}

}  // namespace passnet::pass
