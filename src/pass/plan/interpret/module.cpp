// Files of a plan: what they do when they are imported, and what imports bind.
#include <fmt/format.h>

#include "base/text/strings.h"
#include "pass/plan/interpret/interpreter.h"
#include "pass/plan/syntax/check.h"

namespace passnet::pass {

Result<void> Interpreter::run_file() {
  PASSNET_TRY(Frame * own, load(*files_.own));
  frames_.assign(1, own);
  return {};
}

/// Runs a file the first time that it is asked for. One that imports itself in a circle is found as far as it came.
Result<Frame*> Interpreter::load(const PlanProgram& program) {
  std::unique_ptr<Frame>& known = file_frames_[&program];
  if (known) return known.get();
  known = std::make_unique<Frame>();
  Frame* const made = known.get();
  made->program = &program;
  made->file = made;
  made->variables.insert_or_assign("__name__", Value("pass_dir." + program.name));
  made->variables.insert_or_assign("__file__", Value("/pass_dir/" + program.name + ".py"));
  if (frames_.size() > kMaxCallDepth) return bad_pass("imports nested too deep");
  frames_.push_back(made);
  Result<Flow> flow = run(program.body);
  while (frames_.back() != made) frames_.pop_back();
  frames_.pop_back();
  if (!flow) return std::move(flow).error();
  return made;
}

Result<void> Interpreter::run_import(const Statement& statement) {
  for (const Import& import : statement.imports) {
    Result<Value> value = import_one(import);
    if (!value) {
      Error error = std::move(value).error();
      if (!error.at) error.at = locate(import.offset);
      return error;
    }
    PASSNET_TRY_VOID(assign_name(import.bound, *value));
  }
  return {};
}

Result<Value> Interpreter::import_one(const Import& import) {
  if (const PlanProgram* file = files_.find(import.module)) {
    PASSNET_TRY(Frame * loaded, load(*file));
    const ModuleValue module{file->name, loaded};
    if (loaded_modules_) PASSNET_TRY_VOID(set_key(*get_dict(*loaded_modules_), import.module, module, state_.steps));
    return import.name.empty() ? Result<Value>(Value(module)) : module_attribute(module, import.name);
  }
  // `from pass_dir import shared`
  if (files_.is_package(import.module)) {
    const ModuleValue package{import.module};
    return import.name.empty() ? Result<Value>(Value(package)) : module_attribute(package, import.name);
  }
  if (is_library(import.module)) {
    const ModuleValue library{canonical_name(import.module)};
    return import.name.empty() ? Result<Value>(Value(library)) : module_attribute(library, import.name);
  }
  PASSNET_TRY_VOID(state_.steps.charge(kStepsToCompare * files_.beside.size()));
  Error error = raise("ModuleNotFoundError", fmt::format("no module {}", quoted(import.module)));
  if (error.hint = files_.suggestion(import.module); error.hint.empty())
    error.hint =
        "a pass imports Triton, PyTorch, Python's own libraries, and files beside it, which lie in its directory";
  return error;
}

Result<Value> Interpreter::module_attribute(const ModuleValue& module, std::string_view name) {
  // importlib's description of a file is the file's module itself here, which has run.
  if (name == "exec_module" || name == "create_module")
    return Value(BuiltinValue{find_function("importlib.exec_module")});
  if (module.frame != nullptr) {
    const auto variable = module.frame->variables.find(name);
    if (variable != module.frame->variables.end()) return variable->second;
    if (name == "loader") return Value(module);
    return raise("ImportError", fmt::format("file {} has no {}", quoted(module.name + ".py"), quoted(name)));
  }
  if (files_.is_package(module.name)) {
    if (const PlanProgram* file = files_.find(module.name + "." + std::string(name))) {
      PASSNET_TRY(Frame * loaded, load(*file));
      return Value(ModuleValue{file->name, loaded});
    }
    return raise("ImportError", fmt::format("no file {} beside the pass", quoted(std::string(name) + ".py")));
  }
  const std::string dotted = canonical_name(module.name + "." + std::string(name));
  PASSNET_TRY_VOID(check_string(dotted.size()));
  if (const Builtin* builtin = find_function(dotted)) return Value(BuiltinValue{builtin});
  if (dotted == "sys.modules") {  // what files put there is found again by others
    if (!loaded_modules_) {
      std::vector<std::pair<Value, Value>> libraries;
      for (const char* library : {"torch", "torch.fx", "torch.nn", "torch.nn.functional", "operator"})
        libraries.emplace_back(std::string(library), ModuleValue{library});
      for (const auto& [program, loaded] : file_frames_) {
        for (const char* package : {"", "pass_dir."})
          libraries.emplace_back(package + program->name, ModuleValue{program->name, loaded.get()});
      }
      PASSNET_TRY(loaded_modules_, make_dict(libraries, state_.steps));
    }
    return *loaded_modules_;
  }
  if (auto constant = find_constant(dotted)) return *std::move(constant);
  return Value(ModuleValue{dotted});
}

}  // namespace passnet::pass
