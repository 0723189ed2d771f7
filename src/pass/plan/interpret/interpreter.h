// Runs the files and functions of a plan. It builds a launch list and reads sizes; it touches no data and always ends:
// steps, nesting and every size are bounded.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pass/plan/interpret/frame.h"
#include "pass/plan/library/builtins.h"
#include "pass/plan/plan.h"
#include "pass/plan/syntax.h"

namespace passnet::pass {

inline constexpr int kMaxCallDepth = 64;
inline constexpr size_t kMostConfigurations = 128;  // of one @triton.autotune
inline constexpr int kMaxEvaluationDepth = 500;     // expressions and blocks inside each other, calls included

/// One level of evaluation for the lifetime of the object.
class Level {
 public:
  explicit Level(int& depth) : depth_(depth) { ++depth_; }
  ~Level() { --depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;
  bool too_deep() const { return depth_ > kMaxEvaluationDepth; }

 private:
  int& depth_;
};

/// What a function or kernel is told apart by; null for other values.
const void* identity_of(const Value& value);

class Interpreter {
 public:
  /// files, steps: outlive the interpreter.
  Interpreter(const PlanFiles& files, Budget& steps) : files_(files), state_{steps} {}

  /// Runs the pass's own file; call once, before anything else.
  Result<void> run_file();
  /// A variable of a file; null: there is none, or the file did not run.
  const Value* find_global(std::string_view name, const PlanProgram& file) const;
  /// callee: a function, a kernel's launch apart.
  Result<Value> call(const Value& callee, CallArguments arguments);

  PlanState& state() { return state_; }
  /// Position of the `return` that ended the last call.
  const SourceLoc& returned_at() const { return returned_at_; }

 private:
  enum class Flow { Next, Break, Continue, Return };

  // run.cpp
  Result<Flow> run(const std::vector<Statement>& body);
  Result<Flow> run(const Statement& statement);
  Result<Flow> run_simple(const Statement& statement);
  Result<Flow> run_for(const Statement& statement);
  Result<Flow> run_while(const Statement& statement);
  Result<Flow> run_try(const Statement& statement);
  Result<Flow> run_guarded(const Statement& statement);
  Result<Flow> run_with(const Statement& statement);
  Result<void> run_raise(const Statement& statement);
  Result<void> run_delete(const Statement& statement);
  Result<void> run_augmented(const Statement& statement);
  Result<void> check_assert(const Statement& statement);
  Result<void> define_kernel(const Statement& statement);
  Error raise(std::string type, std::string text);
  Result<void> assign(const Expr& target, const Value& value);
  Result<void> assign_name(std::string_view name, const Value& value);
  Result<void> assign_item(const Expr& target, const Value& value);
  Result<void> assign_attribute(const Expr& target, const Value& value);
  Result<void> give_attribute(const Value& object, std::string_view name, const Value& value);

  // module.cpp
  Result<void> run_import(const Statement& statement);
  Result<Value> import_one(const Import& import);
  Result<Frame*> load(const PlanProgram& program);
  Result<Value> module_attribute(const ModuleValue& module, std::string_view name);

  // interpreter.cpp
  Result<Value> eval(const Expr& expr);
  Result<Value> eval_kind(const Expr& expr);
  Result<Value> eval_name(const Expr& expr);
  Result<std::vector<Value>> eval_items(std::span<const Expr* const> exprs);
  Result<Value> eval_sequence(const Expr& expr);
  Result<Value> eval_dict(const Expr& expr);
  Result<Value> eval_format(const Expr& expr);
  Result<Value> eval_formatted(const Expr& expr);
  Result<Value> eval_compare(const Expr& expr);
  Result<Value> eval_attribute(const Expr& expr);
  Result<Value> attribute_of(const Value& object, std::string_view name);
  Result<Value> eval_subscript(const Expr& expr);
  Result<Value> subscript_of(const Value& object, const Value& index);
  Result<Value> eval_slice(const Expr& expr);
  Result<Value> eval_comprehension(const Expr& expr);
  Result<void> comprehend(const Expr& expr, size_t clause, std::vector<Value>& elements);
  Result<std::vector<Value>> items_of(const Value& iterable, const Expr& expr);
  const Value* find_variable(std::string_view name) const;

  // call.cpp
  Result<Value> eval_call(const Expr& expr);
  Result<Value> eval_subscript_call(const Expr& expr);
  Result<Value> call_with(const Value& function, const Expr& expr);
  bool is_kernel_beside(std::string_view name) const;
  Result<Value> attribute_to_call(const Value& object, std::string_view name);
  Result<Value> call_method(const Value& object, const Expr& callee, const Expr& expr);
  Result<CallArguments> eval_arguments(const Expr& call);
  Result<Value> call_function(const FunctionValue& callee, CallArguments arguments);
  Result<void> begin_call(const Function& function, Bound& bound, const CallArguments& rest);
  Result<Value> call_builtin(const Builtin& builtin, CallArguments arguments);

  // library_call.cpp
  bool may_call_library(ir::NodeKind kind, std::string_view target) const;
  Result<Value> call_library(ir::NodeKind kind, std::string_view target, const CallArguments& arguments);
  Result<Value> unary(Operator op, const Value& operand);
  Result<Value> binary(Operator op, const Value& left, const Value& right);

  // special.cpp: builtins that need more than their arguments
  Result<Value> call_special(std::string_view name, const Bound& args);
  Result<Value> import_by_name(const Bound& args, bool by_path);
  Result<Value> get_attribute_by_name(const Bound& args);
  Result<Value> has_attribute(const Bound& args);
  Result<Value> set_attribute(const Bound& args);
  Result<Value> make_module(const Bound& args);
  Result<Value> map_items(const Bound& args, bool is_filter);
  Result<Value> reduce_items(const Bound& args);
  Result<Value> sort_items(const Bound& args);

  // launch.cpp
  Result<Value> keep_grid(const Value& grid, int depth);
  Result<Launch> begin_launch(std::string_view kernel, uint32_t where, const CallArguments& arguments) const;
  Result<Value> launch_beside(const Expr& call);
  Result<Value> launch(const Launcher& launcher, CallArguments arguments);
  Result<Value> run_kernel(std::shared_ptr<const KernelObject> kernel, const Expr& expr);
  Result<Value> bind_launcher(CallArguments arguments);
  Result<std::vector<std::shared_ptr<const Configuration>>> tuning_of(const Expr& autotune);
  Result<void> take_as_written(const Expr& call, const CallArguments& arguments, Launch& launch);
  Result<std::vector<int64_t>> grid_sizes(const Value& grid, const std::vector<std::pair<Value, Value>>& meta);

  // triton_launch.cpp
  struct TritonArguments;
  Result<void> launch_triton(const Expr& call, const KernelObject& kernel, const Value& grid, CallArguments arguments,
                             Launch& launch);
  Result<TritonArguments> bind_to_signature(const KernelObject& kernel, CallArguments arguments);
  Result<LaunchChoice> choose(const KernelObject& kernel, const TritonArguments& given,
                              const Configuration* configuration, const Value& grid,
                              const std::function<const Expr&(size_t)>& where);

  Frame& frame() { return *frames_.back(); }
  const Frame& frame() const { return *frames_.back(); }
  SourceLoc locate(uint32_t offset) const { return frame().program->locate(offset); }
  Error at(const Expr& expr, Error error) const;

  const PlanFiles& files_;
  PlanState state_;
  std::map<const PlanProgram*, std::unique_ptr<Frame>> file_frames_;
  std::vector<std::unique_ptr<Frame>> kept_;  // frames of calls that ended, which functions made in them still read
  std::vector<Frame*> frames_;                // that run now, the innermost last
  std::map<std::pair<const void*, std::string_view>, Value> attributes_;  // that the plan gave to functions and kernels
  std::optional<Value> loaded_modules_;                                   // sys.modules
  std::optional<ExceptionValue>
      raised_;                          // what the error on its way up is to Python; none: an error that is none there
  std::vector<ExceptionValue> caught_;  // by the handlers that run now
  SourceLoc returned_at_;
  const Expr* calling_ = nullptr;  // the call or the operator that is evaluated, in the file of frame()
  int depth_ = 0;
};

}  // namespace passnet::pass
