#include "author/forms/forms.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "author/forms/candidates.h"
#include "base/file.h"

namespace passnet::author {

namespace fs = std::filesystem;

namespace {

constexpr const char* kWithCalls = "with calls";

/// Whether a pass with a product in it is not kept, or leaves graphs alone: what is fused around the product goes with it.
bool lost_a_product(const JudgedForm& best) {
  for (size_t i = 0; i < best.authored.passes.size(); ++i) {
    const PassVerdict& verdict = best.judged.passes[i];
    if (best.authored.passes[i].products > 0 && (!verdict.kept || !verdict.declined.empty())) return true;
  }
  return false;
}

bool has_same_texts(const Authored& a, const Authored& b) {
  const auto text = [](const Written& one) { return std::tie(one.python.text, one.cpp, one.cuda); };
  return std::ranges::equal(a.passes, b.passes, {}, text, text);
}

Result<JudgedForm> judge_form(const graphdir::Sample& sample, std::string label, Authored authored,
                              const Evaluate& evaluate, const JudgeOptions& options) {
  PASSNET_TRY(const std::vector<Candidate> candidates, write_candidates(sample.pass_dir, authored));
  PASSNET_TRY(Judged judged, judge_passes(sample, candidates, evaluate, options));
  return JudgedForm{std::move(label), std::move(authored), std::move(judged)};
}

Result<void> replace_directory(const fs::path& directory, const fs::path& by) {
  PASSNET_TRY_VOID(remove_directory(directory));
  std::error_code failed;
  fs::rename(by, directory, failed);
  if (failed) return io_error("cannot rename", by.string(), failed.value());
  return {};
}

}  // namespace

std::vector<Form> known_forms(bool library, bool on_gpu) {
  std::vector<Form> forms = {
      {"plain", {}},
      {"without products", {.products = false}, lost_a_product},
  };
  if (!library) return forms;
  const auto always = [](const JudgedForm&) { return true; };
  // Where kernels for products did not help, those of the best form so far are PyTorch's.
  const auto products_are_lost = [](const JudgedForm& best) { return best.label != "plain" || lost_a_product(best); };
  forms.push_back({kWithCalls, {.library = Library::Called}, always});
  if (on_gpu) forms.push_back({"with calls, algorithms measured", {.library = Library::Measured}, always});
  forms.push_back({"with calls for all products", {.products = false, .library = Library::Called}, products_are_lost});
  return forms;
}

Form form_to_write(bool library) {
  const std::vector<Form> forms = known_forms(library, false);
  return library ? *std::ranges::find(forms, kWithCalls, &Form::label) : forms.front();
}

Result<void> try_form(const graphdir::Sample& sample, const Form& form, const Write& write, const Evaluate& evaluate,
                      const JudgeOptions& options, SettledForm& settled) {
  Authored authored = write(form.options);
  if (has_same_texts(authored, settled.best.authored)) return {};
  if (options.is_spent && options.is_spent()) {
    settled.best.judged.ended_by_budget = true;
    return {};
  }
  graphdir::Sample place = sample;
  place.pass_dir = sample.path / "other_form";
  PASSNET_TRY_VOID(remove_directory(place.pass_dir));
  PASSNET_TRY(JudgedForm other, judge_form(place, form.label, std::move(authored), evaluate, options));
  const bool ended = settled.best.judged.ended_by_budget || other.judged.ended_by_budget;
  if (other.judged.score > settled.best.judged.score) {
    PASSNET_TRY_VOID(replace_directory(sample.pass_dir, place.pass_dir));
    std::swap(settled.best, other);
  }
  settled.best.judged.ended_by_budget = ended;
  settled.others.push_back({other.label, other.judged.score});
  return remove_directory(place.pass_dir);
}

Result<SettledForm> judge_forms(const graphdir::Sample& sample, const std::vector<Form>& forms, const Write& write,
                                const Evaluate& evaluate, const JudgeOptions& options) {
  const Form& first = forms.front();
  SettledForm settled;
  PASSNET_TRY(settled.best, judge_form(sample, first.label, write(first.options), evaluate, options));
  for (auto form = forms.begin() + 1; form != forms.end(); ++form) {
    if (form->may_help(settled.best)) PASSNET_TRY_VOID(try_form(sample, *form, write, evaluate, options, settled));
  }
  return settled;
}

}  // namespace passnet::author
