// Runs the functions of a plan. It builds a launch list and reads sizes; it touches no data and always ends:
// steps, nesting and every size are bounded.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "pass/plan/builtins.h"
#include "pass/plan/syntax.h"

namespace passnet::pass {

inline constexpr int kMaxCallDepth = 64;
inline constexpr int kMaxEvaluationDepth = 500;  // expressions and blocks inside each other, calls included

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

/// What a new value costs beside the step that made it: its items, bytes or dimensions.
size_t size_of(const Value& value);

class Interpreter {
 public:
  explicit Interpreter(const PlanProgram& program) : program_(program), frames_(1) {}

  /// Evaluates the file's constants; call once, before anything else.
  Result<void> evaluate_constants();
  Result<Value> call(const Function& function, CallArguments arguments);

  PlanState& state() { return state_; }
  /// Position of the `return` that ended the last call.
  uint32_t return_offset() const { return return_offset_; }

 private:
  using Variables = std::unordered_map<std::string_view, Value>;
  struct Frame {
    uint64_t serial = 0;
    Variables variables;
    Value result;
  };
  enum class Flow { Next, Break, Continue, Return };

  Result<Flow> run(const std::vector<Statement>& body);
  Result<Flow> run(const Statement& statement);
  Result<Flow> run_for(const Statement& statement);
  Result<Flow> run_while(const Statement& statement);
  Result<void> run_augmented(const Statement& statement);
  Error failed_assert(const Statement& statement, std::string_view what);
  Result<void> assign(const Expr& target, const Value& value);

  Result<Value> eval(const Expr& expr);
  Result<Value> eval_kind(const Expr& expr);
  Result<Value> eval_name(const Expr& expr);
  Result<std::vector<Value>> eval_items(std::span<const Expr* const> exprs);
  Result<Value> eval_sequence(const Expr& expr);
  Result<Value> eval_dict(const Expr& expr);
  Result<Value> eval_format(const Expr& expr);
  Result<Value> eval_compare(const Expr& expr);
  Result<Value> eval_attribute(const Expr& expr);
  Result<Value> eval_subscript(const Expr& expr);
  Result<Value> eval_slice(const Expr& expr);
  Result<Value> eval_call(const Expr& expr);
  Result<Value> eval_comprehension(const Expr& expr);
  Result<Value> comprehend(const Expr& expr, const Sequence& sequence);
  Result<CallArguments> eval_arguments(const Expr& call);

  Result<Value> launch(const Expr& call, const Expr& kernel);
  Result<void> take_as_written(const Expr& call, const CallArguments& arguments, Launch& launch) const;
  Result<void> bind_to_signature(const Expr& call, const JitKernel& kernel, CallArguments arguments, Launch& launch);
  Result<std::vector<int64_t>> grid_sizes(const Value& grid, const std::vector<NamedConstant>& constants);
  Result<Value> call_lambda(const LambdaValue& lambda, const std::vector<NamedConstant>& constants);

  std::string module_name(const Expr& expr) const;
  const Value* find_variable(std::string_view name) const;
  Error at(const Expr& expr, Error error) const;

  const PlanProgram& program_;
  PlanState state_;
  std::vector<Frame> frames_;  // the first holds the file's constants
  uint64_t next_serial_ = 1;
  uint32_t return_offset_ = 0;
  int depth_ = 0;
};

}  // namespace passnet::pass
