// Mutation testing: honest kernels with one fault each. What changes a result must be caught.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "selftest/corpus.h"
#include "selftest/mutate.h"
#include "selftest/selftest.h"

namespace passnet::selftest {

struct MutantOptions {
  run::EvaluateOptions evaluate;  // checked and not timed, whatever it says
  int jobs = 1;
  size_t count = 0;   // of mutants, drawn from all that there are
  uint64_t seed = 0;  // of that draw
};

struct MutantOutcome {
  std::string subject;  // "controls/add_norm"
  Mutant mutant;
  enum class Fate {
    Killed,      // it gets no score
    NotBuilt,    // it does not compile, or is refused as the original is not
    Equivalent,  // the same object, or the same bits in every output
    Survived,    // other results, within the tolerance
  } fate = Fate::Killed;
  std::string verdict;
};
const char* to_string(MutantOutcome::Fate fate);

struct MutantCounts {
  size_t killed = 0, not_built = 0, equivalent = 0, survived = 0;
  /// Of those whose results differ; 1 when there are none.
  double kill_rate() const;
};
MutantCounts count_fates(const std::vector<MutantOutcome>& outcomes);

/// Honest passes whose kernels are mutated: the controls of `corpus`, and the samples beside it where they are (../../samples,
/// each with its first graph). Errors: as load_corpus.
Result<std::vector<Bundle>> load_subjects(const std::filesystem::path& corpus);

/// Errors: of the evaluation; Io; BadPass: a subject gets no score itself; Resource: interrupted.
Result<std::vector<MutantOutcome>> run_mutants(const std::vector<Bundle>& subjects, const MutantOptions& options,
                                               const std::function<void(const MutantOutcome&)>& finished);

}  // namespace passnet::selftest
