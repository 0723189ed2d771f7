// The lines of a plan that launch its kernels, call PyTorch and make views.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "author/define/definitions.h"
#include "author/subject/part.h"
#include "author/text/plan/launch_text.h"
#include "author/text/plan/named_kernel.h"
#include "base/result.h"

namespace passnet::author {

/// One after the other: the kernel of that number is launched, or what the call makes is made.
struct PlanStep {
  std::optional<size_t> kernel;
  TensorId call = 0;
};

/// "a != b" of "a == b", "a > b" of "a <= b".
std::string negated(const std::string& condition);

/// The lines of a plan from its first launch or call on.
class StepLines {
 public:
  StepLines(Subject& subject, Definitions& definitions, const GraphPart& part, const std::vector<NamedKernel>& kernels,
            const std::vector<PlanStep>& steps);

  /// Returns conditions of kernels that add a bias which PyTorch's own convolution for CPUs adds before it rounds: not
  /// on a CPU.
  std::vector<std::string> rounding_checks() const;
  /// Returns conditions of products that go through tiles, which only a GPU does.
  std::vector<std::string> device_checks(const std::vector<NamedKernel>& kernels) const;

  /// Names of sizes that are dimensions of what a call makes, each with the number of its step.
  const std::map<std::string, size_t>& late() const { return late_; }
  /// Those lines and conditions of the sizes that hold before all steps.
  const std::vector<std::string>& early_lines() const { return early_lines_; }
  const std::vector<std::string>& early_conditions() const { return early_conditions_; }

  /// Errors: Unsupported: a size is needed before the call that gives it.
  Result<std::vector<std::string>> run();

 private:
  /// A name that nothing in the plan has.
  std::string number_name(const std::string& stem);
  /// A tensor for what a kernel stores, unless it has one.
  void allocate(TensorId id);
  void launch_kernel(const NamedKernel& kernel);
  /// How many threads share one of so many columns, and a block of these.
  void name_columns(const std::string& on, const std::string& columns, const std::string& height,
                    const std::string& indent, LaunchNames& names);
  /// Writes the launches of several kernels that share a row.
  void launch_split(const NamedKernel& kernel, const std::string& on, LaunchNames& names);
  /// The last step whose result, or a size of it, is named in the text.
  std::optional<size_t> step_of(const std::string& text) const;
  void find_late_sizes();
  void call(size_t step);
  /// The views that the value is made by, from the first; none of what is no view of the plan.
  void make_view(ir::NodeId id, std::vector<std::string>& lines);
  /// Views are named after what they were made of, whose elements an operator in place gave another name since.
  void name_overwritten(ir::NodeId id, std::vector<std::string>& lines);

  Subject& subject_;  // its graph's pool may grow
  Definitions& definitions_;
  const GraphPart& part_;
  const std::vector<PlanStep>& steps_;
  std::string device_of_;
  std::set<std::string> taken_;
  std::set<TensorId> allocated_;
  std::set<ir::NodeId> made_views_;
  std::map<std::string, size_t> late_;
  std::vector<std::string> early_lines_, early_conditions_;
  std::vector<std::vector<std::string>> lines_, sizes_of_step_, conditions_of_step_;
};

}  // namespace passnet::author
