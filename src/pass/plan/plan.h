// The host plan of a pass: a small subset of Python, parsed to a tree and interpreted by us. See
// docs/plan-language.md for the language. Evaluated once per set of shapes, to a flat LaunchList.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/budget.h"
#include "base/result.h"
#include "fx/syntax/free_values.h"
#include "ir/graph.h"
#include "pass/plan/launch_list.h"
#include "pass/plan/library_call.h"

namespace passnet::pass {

struct PlanProgram;  // a parsed file; opaque outside plan/

/// The files that a plan is written in.
struct PlanFiles {
  std::shared_ptr<const PlanProgram> own;                       // the pass's
  std::vector<std::shared_ptr<const PlanProgram>> beside = {};  // that it may import
  std::string directory = "pass_dir";                           // which imports may name

  /// The file that an import means: "pass_dir.shared", "shared"; null: none.
  const PlanProgram* find(std::string_view module) const;
  /// Whether the name is that of the directory: `import pass_dir`, `from . import shared`.
  bool is_package(std::string_view module) const;
  /// What to write instead of an import of a file that is not there; may be empty.
  std::string suggestion(std::string_view module) const;
};

struct LoadOptions {
  bool allow_library = false;                      // plans may call PyTorch's operators
  const std::atomic<bool>* interrupted = nullptr;  // ends the work when it becomes true
  bool find_arithmetic = false;                    // refuse plans that compute with tensors at each site
};

/// One pass as it is loaded: names are checked, and its files run twice without a site.
inline constexpr Work kLoading{"loading the pass takes", 5'000'000, "a plan chooses sizes and launches kernels"};
/// All evaluations of plans for one graph, whatever their number.
inline constexpr Work kPlansOfGraph{
    "the plans of this graph take", 10'000'000,
    "plans are evaluated once for each match; compute what all have in common once, at the top of the file"};

struct Plan {
  std::shared_ptr<const PlanFiles> files;
  std::string entry = {};         // the name of the function that replacement_func returns
  std::string entry_id = {};      // the same for plans that return one function: its file and where it stands there
  bool may_call_library = false;  // LoadOptions::allow_library
};

/// What a pattern parameter is bound to at a site.
using SiteInput = std::variant<std::monostate /* None */, ir::TensorType, int64_t, double, bool, std::string, ir::DType,
                               std::vector<int64_t>, std::vector<double>>;

/// The plan declined the site (`return NotImplemented`).
struct Declined {
  SourceLoc at;
};

struct PlanOptions {
  bool on_gpu = false;              // what the plan sees as x.is_cuda
  bool limited = true;              // how much it may allocate and launch; only `passnet selftest` lifts that
  LibraryTypes library_types = {};  // what a call of PyTorch gives; none: such calls end in an error
  Budget* steps = nullptr;          // of all plans of the graph (kPlansOfGraph); null: of this evaluation alone
};

/// The global variables of one of the files that a pattern can use: numbers, texts, dtypes, tuples and lists of them, and other
/// names of functions and parts of PyTorch.
/// None when the files do not run. Errors: `steps` are used up.
Result<fx::FreeValues> global_constants(const PlanFiles& files, const PlanProgram& of, Budget& steps);

/// Checks what can be known without a site: names mean something, the files run and import what is there, and
/// replacement_func returns a function. Errors: BadPass at the file's line; of `steps` (kLoading).
Result<Plan> make_plan(PlanFiles files, const LoadOptions& options, Budget& steps);

/// Runs replacement_args on the site's inputs, then what replacement_func returns on what it returns. tensor_inputs[k]
/// tells which site input (index into `inputs`) the launch list's k-th input buffer is. output_count: how many values the pattern
/// returns. Errors: BadPass at the plan's line: outside the language, a wrong type, out of steps (10^6, or those of
/// PlanOptions), a wrong number of outputs, an allocation over 2^40 bytes.
struct PlanResult {
  LaunchList list;
  std::vector<LibraryCall> calls;  // of PyTorch, in order; segments.h puts them between the launches
  std::vector<uint32_t> tensor_inputs;
};
Result<std::variant<PlanResult, Declined>> evaluate_plan(const Plan& plan, const std::string& pass_name,
                                                         const std::vector<SiteInput>& inputs, size_t output_count,
                                                         const PlanOptions& options);

}  // namespace passnet::pass
