#include "selftest/mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <span>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/file/temporary_directory.h"
#include "base/text/strings.h"
#include "record/verdict.h"
#include "run/batch/job.h"

namespace passnet::selftest {

namespace {

using Fate = MutantOutcome::Fate;

/// A mutant that is still to be tried.
struct Drawn {
  const Bundle* subject = nullptr;
  fs::path kernel;  // file name in pass_dir
  Mutant mutant;
};

Result<std::vector<Drawn>> all_mutants(const std::vector<Bundle>& subjects) {
  std::vector<Drawn> all;
  for (const Bundle& subject : subjects) {
    PASSNET_TRY(const std::vector<fs::path> files, list_directory(subject.sample.pass_dir));
    for (const fs::path& kernel : files) {
      if (kernel.extension() != ".cpp") continue;
      PASSNET_TRY(const std::string source, read_file(kernel, FileKind::Kernel));
      for (Mutant& mutant : mutants_of(source)) all.push_back({&subject, kernel.filename(), std::move(mutant)});
    }
  }
  return all;
}

Result<std::vector<Drawn>> draw(const std::vector<Bundle>& subjects, const MutantOptions& options) {
  PASSNET_TRY(std::vector<Drawn> all, all_mutants(subjects));
  std::mt19937_64 random(options.seed);
  const size_t count = std::min(options.count, all.size());
  for (size_t i = 0; i < count; ++i) std::swap(all[i], all[i + random() % (all.size() - i)]);
  all.resize(count);
  return all;
}

/// The unchanged passes of the subjects, each evaluated when its first mutant comes.
class Originals {
 public:
  Result<Evaluated> of(const Bundle& subject, BundleEvaluator& evaluator) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = known_.find(subject.name); known != known_.end()) return known->second;
    }
    PASSNET_TRY(Evaluated original, evaluator.evaluate(subject));
    if (const std::string word = record::headline(original.record); !is_score(word))
      return bad_pass(fmt::format("{} is '{}' before anything in it is changed: {}", subject.name, word,
                                  first_line(original.record.error)));
    const std::lock_guard lock(mutex_);
    return known_.insert_or_assign(subject.name, std::move(original)).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Evaluated> known_;
};

Fate fate_of(const Evaluated& original, const Evaluated& mutant) {
  const std::string word = record::headline(mutant.record);
  if (word.starts_with("build: ")) return Fate::NotBuilt;
  if (mutant.record.provenance->objects == original.record.provenance->objects) return Fate::Equivalent;
  if (!is_score(word)) return Fate::Killed;
  return mutant.results == original.results ? Fate::Equivalent : Fate::Survived;
}

Result<MutantOutcome> try_mutant(const Drawn& drawn, Originals& originals, BundleEvaluator& evaluator) {
  PASSNET_TRY(const Evaluated original, originals.of(*drawn.subject, evaluator));
  PASSNET_TRY(const TemporaryDirectory scratch, TemporaryDirectory::make("passnet-selftest-"));
  Bundle bundle = *drawn.subject;
  bundle.sample.pass_dir = scratch.path() / "pass_dir";
  std::error_code failed;
  fs::copy(drawn.subject->sample.pass_dir, bundle.sample.pass_dir, failed);
  if (failed) return io_error("copy", drawn.subject->sample.pass_dir.string(), failed.value());
  PASSNET_TRY_VOID(write_file(bundle.sample.pass_dir / drawn.kernel, drawn.mutant.text));
  PASSNET_TRY(const Evaluated mutant, evaluator.evaluate(bundle));
  return MutantOutcome{bundle.name, drawn.mutant, fate_of(original, mutant), record::headline(mutant.record)};
}

}  // namespace

const char* to_string(Fate fate) {
  switch (fate) {
    case Fate::Killed: return "killed";
    case Fate::NotBuilt: return "not built";
    case Fate::Equivalent: return "equivalent";
    case Fate::Survived: return "survived";
  }
  return "unknown";
}

double MutantCounts::kill_rate() const {
  const size_t differing = killed + survived;
  return differing == 0 ? 1 : static_cast<double>(killed) / static_cast<double>(differing);
}

MutantCounts count_fates(const std::vector<MutantOutcome>& outcomes) {
  MutantCounts counts;
  for (const MutantOutcome& outcome : outcomes) {
    switch (outcome.fate) {
      case Fate::Killed: ++counts.killed; break;
      case Fate::NotBuilt: ++counts.not_built; break;
      case Fate::Equivalent: ++counts.equivalent; break;
      case Fate::Survived: ++counts.survived; break;
    }
  }
  return counts;
}

Result<std::vector<Bundle>> load_subjects(const fs::path& corpus) {
  PASSNET_TRY(std::vector<Bundle> subjects, load_corpus(corpus, false, {"controls/"}));
  // Where every answer is right, so is a mutant's. Mutants are of kernels, and those of a plan that calls PyTorch are
  // only a part of it.
  std::erase_if(subjects,
                [](const Bundle& subject) { return !is_score(subject.verdict.front()) || subject.allow_library; });
  // A sample that is declined or has no kernel for the CPU has nothing to mutate.
  const fs::path samples = absolute_path(corpus).parent_path().parent_path() / "samples";
  const Result<std::vector<fs::path>> directories = list_directory(samples);
  if (!directories) return subjects;  // not beside this corpus
  for (const fs::path& directory : *directories) {
    if (!directory_exists(directory / "pass_dir")) continue;
    Bundle subject;
    PASSNET_TRY(subject.sample, graphdir::load_sample(directory));
    subject.name = "samples/" + subject.sample.name;
    subject.sample.graph_names.resize(1);
    subject.sample.graph_paths.resize(1);
    subjects.push_back(std::move(subject));
  }
  return subjects;
}

Result<std::vector<MutantOutcome>> run_mutants(const std::vector<Bundle>& subjects, const MutantOptions& options,
                                               const std::function<void(const MutantOutcome&)>& finished) {
  PASSNET_TRY(const std::vector<Drawn> drawn, draw(subjects, options));
  run::EvaluateOptions evaluate = options.evaluate;
  evaluate.timed = false;
  BundleEvaluators evaluators(evaluate, options.jobs);
  Originals originals;
  std::vector<MutantOutcome> outcomes;
  PASSNET_TRY_VOID(run::for_each_item(
      std::span(drawn), {options.jobs, evaluate.interrupted},
      [&](const Drawn& one, size_t job) { return try_mutant(one, originals, evaluators.at(job)); },
      [&](MutantOutcome outcome) -> Result<void> {
        outcomes.push_back(std::move(outcome));
        finished(outcomes.back());
        return {};
      }));
  return outcomes;
}

}  // namespace passnet::selftest
