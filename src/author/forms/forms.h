// A sample written in several ways: each that may help is judged, and the one that is worth the most stays.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "author/judge/judge.h"
#include "author/write.h"
#include "base/result.h"
#include "graphdir/sample.h"

namespace passnet::author {

/// A sample in one form.
struct JudgedForm {
  std::string label;
  Authored authored;
  Judged judged;
};

/// The passes that a form may take over from the best form so far.
enum class TakesGraphs : uint8_t {
  All,     // they stand in the place of all its passes
  Faster,  // they stand before these, for the graphs that they are faster on
  Left     // the same, and are evaluated on the graphs alone that have gained nothing so far
};

/// A way to write a sample.
struct Form {
  std::string label;  // as reports call it
  WriteOptions options;
  /// Tells whether it may be worth more than the best one so far. Not asked of the first form, which is always judged.
  std::function<bool(const JudgedForm& best)> may_help = {};
  TakesGraphs takes = TakesGraphs::All;
  bool gives_way = false;  // it is not tried where the form after it has the same texts
};

/// Those that are known, in the order in which they are tried. library: plans may call PyTorch. on_gpu: it is judged on one,
/// which has more than one algorithm for a convolution.
std::vector<Form> known_forms(bool library, bool on_gpu);
/// The one of that label. Errors: BadInput: there is none; names those that there are.
Result<Form> form_called(const std::string& label, bool library, bool on_gpu);
/// Returns the form to write where nothing is measured: without products for large graphs, with calls where they are allowed,
/// else with products in tiles.
Form form_to_write(bool library, bool on_gpu, bool is_large = false);

struct OtherForm {
  std::string label;
  double score = 1;
};

struct SettledForm {
  JudgedForm best;
  std::vector<OtherForm> others;  // that were judged too
};

/// The directory below sample.path where another form than the best one is written.
inline constexpr const char* kOtherForm = "other_form";

using Write = std::function<Authored(const WriteOptions& options)>;

/// Judges one more form, which replaces the best one if its score is higher. Errors: as judge_forms.
Result<void> try_form(const graphdir::Sample& sample, const Form& form, const Write& write, Evaluations& evaluations,
                      const JudgeOptions& options, SettledForm& settled);

/// Writes the first form to sample.pass_dir and judges it (judge_passes); then each other one that may help and whose passes
/// have another text, in a directory of its own below sample.path, while the budget lasts. That with the highest score, the
/// earliest of several, stands in sample.pass_dir at the end, and nothing is left of the others. Passes of two forms in one
/// list are called "A and B". Where the budget kept a form from being judged, `best` says that it ended.
/// Errors: Io; of an evaluation.
Result<SettledForm> judge_forms(const graphdir::Sample& sample, const std::vector<Form>& forms, const Write& write,
                                Evaluations& evaluations, const JudgeOptions& options = {});

}  // namespace passnet::author
