// Names of a function that hold tensors whatever the site, so that arithmetic with them is found without one.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "pass/plan/syntax.h"

namespace passnet::pass {

class TensorNames {
 public:
  /// Returns whether a call allocates a tensor: torch.empty(…), ….
  using IsAllocation = std::function<bool(const Expr& call)>;

  /// Reads what each call of `function` comes to: its statements up to the first that may leave it. A parameter is a tensor
  /// where it is asked for what tensors alone have (`x.numel()`), another name where a tensor is all that it is given.
  /// is_plan: replacement_func returns the function, which returns tensors.
  TensorNames(const Function& function, bool is_plan, IsAllocation is_allocation);

  /// Returns the first operator in these statements that computes with a tensor; null: none is known to.
  const Expr* find_arithmetic() const;

 private:
  void count_assignments(const std::vector<Statement>& body);
  void read(const std::vector<Statement>& body, bool& leaves);
  void note_use(const Expr& expr);
  bool is_tensor(const Expr& expr) const;
  const Expr* find_in(const Expr& expr) const;
  bool must_be_arithmetic(const Expr& returned) const;

  const Function& function_;
  const IsAllocation is_allocation_;
  const bool is_plan_;
  std::map<std::string_view, size_t> assignments_;  // of the whole function
  std::set<std::string_view> tensors_;
  std::vector<const Statement*> certain_;
};

}  // namespace passnet::pass
