#include "author/forms/forms.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "author/forms/candidates.h"
#include "author/forms/mix.h"
#include "base/file.h"

namespace passnet::author {

namespace fs = std::filesystem;

namespace {

constexpr const char *kPlain = "plain", *kInTiles = "products in tiles", *kWithCalls = "with calls";

using Declined = std::map<std::string, std::string>;

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
                              const std::vector<Declined>& declined, const Evaluate& evaluate,
                              const JudgeOptions& options) {
  PASSNET_TRY(const std::vector<Candidate> candidates, write_candidates(sample.pass_dir, authored, declined));
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

bool is_spent(const JudgeOptions& options, SettledForm& settled) {
  if (!options.is_spent || !options.is_spent()) return false;
  settled.best.judged.ended_by_budget = true;
  return true;
}

/// Where another form than the best one is written and evaluated.
graphdir::Sample other_place(const graphdir::Sample& sample) {
  graphdir::Sample place = sample;
  place.pass_dir = sample.path / "other_form";
  return place;
}

/// As try_form, of passes that are written. declined: by pass, what it declines from the beginning; empty: none does.
Result<void> try_passes(const graphdir::Sample& sample, const std::string& label, Authored authored,
                        const std::vector<Declined>& declined, const Evaluate& evaluate, const JudgeOptions& options,
                        SettledForm& settled) {
  const graphdir::Sample place = other_place(sample);
  PASSNET_TRY_VOID(remove_directory(place.pass_dir));
  PASSNET_TRY(JudgedForm other, judge_form(place, label, std::move(authored), declined, evaluate, options));
  const bool ended = settled.best.judged.ended_by_budget || other.judged.ended_by_budget;
  if (other.judged.score > settled.best.judged.score) {
    PASSNET_TRY_VOID(replace_directory(sample.pass_dir, place.pass_dir));
    std::swap(settled.best, other);
  }
  settled.best.judged.ended_by_budget = ended;
  settled.others.push_back({other.label, other.judged.score});
  return remove_directory(place.pass_dir);
}

/// Evaluates a form as it is, on a few graphs first, and tries its passes before those of the best one, which `options` wrote, where
/// that promises more.
Result<void> try_before(const graphdir::Sample& sample, const Form& form, const WriteOptions& of_best,
                        const Write& write, const Evaluate& evaluate, const JudgeOptions& options,
                        SettledForm& settled) {
  const Authored authored = write(form.options);
  if (has_same_texts(authored, settled.best.authored)) return {};
  WriteOptions renamed = of_best;
  for (const Written& one : authored.passes) renamed.taken.insert(one.name);
  const Authored behind = write(renamed);
  const graphdir::Sample place = other_place(sample);
  PASSNET_TRY_VOID(remove_directory(place.pass_dir));
  PASSNET_TRY_VOID(write_candidates(place.pass_dir, authored));
  Records records;
  std::optional<Mixed> mixed;
  std::vector<graphdir::Sample> looks = {place};
  if (!options.first_look.empty()) looks.insert(looks.begin(), graphdir::with_graphs(place, options.first_look));
  for (const graphdir::Sample& look : looks) {
    if (is_spent(options, settled)) return remove_directory(place.pass_dir);
    PASSNET_TRY(records, evaluate_others(look, std::move(records), evaluate));
    mixed = mix(authored, records, settled.best, behind);
    if (!mixed) return remove_directory(place.pass_dir);
  }
  // Where nothing is left to those behind all has been evaluated as it is.
  const auto known = [&, is_first = mixed->is_first_alone](const graphdir::Sample& asked) mutable -> Result<Records> {
    return std::exchange(is_first, false) ? records : evaluate(asked);
  };
  JudgeOptions together = options;
  together.together = true;
  return try_passes(sample, form.label, std::move(mixed->authored), mixed->declined, known, together, settled);
}

}  // namespace

std::vector<Form> known_forms(bool library, bool on_gpu) {
  const auto always = [](const JudgedForm&) { return true; };
  std::vector<Form> forms = {{kPlain, {}}};
  forms.push_back({kInTiles, {.tiles = on_gpu ? InTiles::OnGpu : InTiles::OnCpu}, always, true});
  // Graphs that tiles are not faster on have the plain passes.
  const auto plain_lost = [](const JudgedForm& best) { return best.label == kPlain && lost_a_product(best); };
  forms.push_back({"without products", {.products = false}, plain_lost});
  if (!library) return forms;
  // Where kernels for products did not help, those of the best form so far are PyTorch's.
  const auto products_are_lost = [](const JudgedForm& best) { return best.label != kPlain || lost_a_product(best); };
  forms.push_back({kWithCalls, {.library = Library::Called}, always});
  if (on_gpu) forms.push_back({"with calls, algorithms measured", {.library = Library::Measured}, always});
  forms.push_back({"with calls for all products", {.products = false, .library = Library::Called}, products_are_lost});
  return forms;
}

Form form_to_write(bool library, bool on_gpu) {
  const std::vector<Form> forms = known_forms(library, on_gpu);
  return *std::ranges::find(forms, library ? kWithCalls : kInTiles, &Form::label);
}

Result<void> try_form(const graphdir::Sample& sample, const Form& form, const Write& write, const Evaluate& evaluate,
                      const JudgeOptions& options, SettledForm& settled) {
  Authored authored = write(form.options);
  if (has_same_texts(authored, settled.best.authored) || is_spent(options, settled)) return {};
  return try_passes(sample, form.label, std::move(authored), {}, evaluate, options, settled);
}

Result<SettledForm> judge_forms(const graphdir::Sample& sample, const std::vector<Form>& forms, const Write& write,
                                const Evaluate& evaluate, const JudgeOptions& options) {
  const Form& first = forms.front();
  SettledForm settled;
  PASSNET_TRY(settled.best, judge_form(sample, first.label, write(first.options), {}, evaluate, options));
  for (auto form = forms.begin() + 1; form != forms.end(); ++form) {
    if (!form->may_help(settled.best)) continue;
    if (form->goes_before) {
      const Form& best = *std::ranges::find(forms, settled.best.label, &Form::label);
      PASSNET_TRY_VOID(try_before(sample, *form, best.options, write, evaluate, options, settled));
    } else {
      PASSNET_TRY_VOID(try_form(sample, *form, write, evaluate, options, settled));
    }
  }
  return settled;
}

}  // namespace passnet::author
