#include "author/forms/forms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "author/forms/candidates.h"
#include "author/forms/mix.h"
#include "base/file/file.h"

namespace passnet::author {

namespace {

constexpr const char *kPlain = "plain", *kInTiles = "products in tiles", *kWithCalls = "with calls",
                     *kWithoutProducts = "without products";

using Declined = std::map<std::string, std::string>;

bool has_a_product(const JudgedForm& best) {
  return std::ranges::any_of(best.authored.passes, [](const Written& one) { return one.products > 0; });
}

/// Tells whether a pass with a product in it is not kept, or leaves graphs alone: what is fused around the product goes
/// with it.
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
                              const std::vector<Declined>& declined, Evaluations& evaluations,
                              const JudgeOptions& options) {
  PASSNET_TRY(const std::vector<Candidate> candidates, write_candidates(sample.pass_dir, authored, declined));
  PASSNET_TRY(Judged judged, judge_passes(sample, candidates, evaluations, options));
  return JudgedForm{std::move(label), std::move(authored), std::move(judged)};
}

Result<void> replace_directory(const fs::path& directory, const fs::path& by) {
  PASSNET_TRY_VOID(remove_directory(directory));
  std::error_code failed;
  fs::rename(by, directory, failed);
  if (failed) return io_error("rename", by.string(), failed.value());
  return {};
}

/// Returns the place where another form than the best one is written and evaluated.
graphdir::Sample other_place(const graphdir::Sample& sample) {
  graphdir::Sample place = sample;
  place.pass_dir = sample.path / kOtherForm;
  return place;
}

/// Does the same as try_form with passes that are written. declined: by pass, what it declines from the beginning;
/// empty: none does.
Result<void> try_passes(const graphdir::Sample& sample, const std::string& label, Authored authored,
                        const std::vector<Declined>& declined, Evaluations& evaluations, const JudgeOptions& options,
                        SettledForm& settled) {
  const graphdir::Sample place = other_place(sample);
  PASSNET_TRY_VOID(remove_directory(place.pass_dir));
  PASSNET_TRY(JudgedForm other, judge_form(place, label, std::move(authored), declined, evaluations, options));
  const bool ended = settled.best.judged.ended_by_budget || other.judged.ended_by_budget;
  if (other.judged.score > settled.best.judged.score) {
    PASSNET_TRY_VOID(replace_directory(sample.pass_dir, place.pass_dir));
    std::swap(settled.best, other);
  }
  settled.best.judged.ended_by_budget = ended;
  // A form that was not evaluated is not reported.
  if (!other.judged.ended_by_budget || !other.judged.records.empty())
    settled.others.push_back({other.label, other.judged.score});
  return remove_directory(place.pass_dir);
}

bool is_gain(const GraphGain& one) { return one.gain == Gain::Faster; }

bool gains_nothing(const JudgedForm& form) { return std::ranges::none_of(gains_of(form.judged.records), is_gain); }

std::vector<std::string> graphs_without_gain(const graphdir::Sample& sample, const JudgedForm& best) {
  std::vector<std::string> graphs = sample.graph_names;
  for (const GraphGain& one : gains_of(best.judged.records)) {
    if (is_gain(one)) std::erase(graphs, one.graph);
  }
  return graphs;
}

/// Evaluates these passes together on these graphs, a few of them first. Returns: what they promise together with those of the
/// best form; nullopt: not more than that, or the budget ended.
Result<std::optional<Mixed>> mix_with_best(const graphdir::Sample& sample, const std::vector<std::string>& graphs,
                                           const Authored& authored, Evaluations& evaluations,
                                           const JudgeOptions& options, SettledForm& settled) {
  const graphdir::Sample place = graphdir::with_graphs(other_place(sample), graphs);
  PASSNET_TRY_VOID(remove_directory(place.pass_dir));
  PASSNET_TRY(const std::vector<Candidate> candidates, write_candidates(place.pass_dir, authored));
  std::vector<ListedPass> listed;
  for (const Candidate& one : candidates) listed.push_back({one.name, one.identity, {}});
  std::optional<Mixed> mixed;
  std::vector<graphdir::Sample> looks = {place};
  if (const graphdir::Sample few = graphdir::with_graphs(place, options.first_look); !few.graph_names.empty())
    looks.insert(looks.begin(), few);
  for (const graphdir::Sample& look : looks) {
    PASSNET_TRY(const std::optional<Records> records, evaluations.of(look, listed));
    if (!records) settled.best.judged.ended_by_budget = true;
    mixed = records ? mix(authored, *records, settled.best) : std::nullopt;
    if (!mixed) break;
  }
  PASSNET_TRY_VOID(remove_directory(place.pass_dir));
  return mixed;
}

/// Tries the form's passes before those of the best one, on the graphs that it may take, where that promises more. alone: as the
/// form has them.
Result<void> try_before(const graphdir::Sample& sample, const Form& form, Authored alone, const Write& write,
                        Evaluations& evaluations, const JudgeOptions& options, SettledForm& settled) {
  WriteOptions renamed = form.options;
  for (const Written& one : settled.best.authored.passes) renamed.taken.insert(one.name);
  const std::vector<std::string> graphs =
      form.takes == TakesGraphs::Left ? graphs_without_gain(sample, settled.best) : sample.graph_names;
  if (graphs.empty()) return {};
  PASSNET_TRY(std::optional<Mixed> mixed, mix_with_best(sample, graphs, write(renamed), evaluations, options, settled));
  if (!mixed) return {};
  JudgeOptions together = options;
  together.together = true;
  if (mixed->is_first_alone)
    return try_passes(sample, form.label, std::move(alone), {}, evaluations, together, settled);
  return try_passes(sample, form.label + " and " + settled.best.label, std::move(mixed->authored), mixed->declined,
                    evaluations, together, settled);
}

}  // namespace

std::vector<Form> known_forms(bool library, bool on_gpu) {
  const auto always = [](const JudgedForm&) { return true; };
  std::vector<Form> forms;
  // On a CPU hardly a product of many steps is faster as plain loops, and PyTorch's own of halves may take seconds there:
  // where it gained in tiles it is evaluated in no other form.
  if (!on_gpu) forms.push_back({kInTiles, {.tiles = InTiles::OnCpu}, always, TakesGraphs::All, true});
  forms.push_back({kPlain, {}, always, TakesGraphs::Left});
  if (on_gpu) forms.push_back({kInTiles, {.tiles = InTiles::OnGpu}, always, TakesGraphs::Faster});
  forms.push_back(
      {"stored once", {.tiles = on_gpu ? InTiles::None : InTiles::OnCpu, .once = true}, always, TakesGraphs::Faster});
  // Libraries may be faster at a product than a kernel that is still faster than all of its operators one by one.
  forms.push_back({kWithoutProducts,
                   {.products = false},
                   on_gpu ? has_a_product : lost_a_product,
                   on_gpu ? TakesGraphs::Faster : TakesGraphs::Left});
  if (!library) return forms;
  // Kernels for products did not help: the best form so far calls PyTorch for them.
  const auto products_are_lost = [](const JudgedForm& best) { return best.label != kPlain || lost_a_product(best); };
  forms.push_back({kWithCalls, {.library = Library::Called}, always});
  if (on_gpu) forms.push_back({"with calls, algorithms measured", {.library = Library::Measured}, always});
  forms.push_back({"with calls, channels last", {.library = Library::ChannelsLast}, always, TakesGraphs::Faster});
  forms.push_back({"with calls for all products", {.products = false, .library = Library::Called}, products_are_lost});
  return forms;
}

Result<Form> form_called(const std::string& label, bool library, bool on_gpu) {
  const std::vector<Form> forms = known_forms(library, on_gpu);
  if (const auto found = std::ranges::find(forms, label, &Form::label); found != forms.end()) return *found;
  std::vector<std::string> labels;
  for (const Form& one : forms) labels.push_back(fmt::format("'{}'", one.label));
  return bad_input(fmt::format("no form '{}' {} a GPU {} --allow-library, expected one of {}", label,
                               on_gpu ? "on" : "without", library ? "with" : "without", fmt::join(labels, ", ")));
}

Form form_to_write(bool library, bool on_gpu, bool is_large) {
  return *form_called(is_large ? kWithoutProducts : library ? kWithCalls : kInTiles, library, on_gpu);
}

Result<void> try_form(const graphdir::Sample& sample, const Form& form, const Write& write, Evaluations& evaluations,
                      const JudgeOptions& options, SettledForm& settled) {
  Authored authored = write(form.options);
  if (has_same_texts(authored, settled.best.authored)) return {};
  return try_passes(sample, form.label, std::move(authored), {}, evaluations, options, settled);
}

Result<SettledForm> judge_forms(const graphdir::Sample& sample, const std::vector<Form>& forms, const Write& write,
                                Evaluations& evaluations, const JudgeOptions& options) {
  auto form = forms.begin();
  Authored first = write(form->options);
  if (form->gives_way && has_same_texts(first, write((form + 1)->options))) ++form;
  SettledForm settled;
  std::vector<Authored> tried = {first};  // as forms have them: none is judged again
  PASSNET_TRY(settled.best, judge_form(sample, form->label, std::move(first), {}, evaluations, options));
  while (++form != forms.end()) {
    if (!form->may_help(settled.best)) continue;
    Authored authored = write(form->options);
    const auto is_it = [&](const Authored& one) { return has_same_texts(one, authored); };
    if (std::ranges::any_of(tried, is_it)) continue;
    tried.push_back(authored);
    // A form that gained nothing is not mixed with another.
    const bool stands_alone = form->takes == TakesGraphs::All || gains_nothing(settled.best);
    PASSNET_TRY_VOID(stands_alone
                         ? try_passes(sample, form->label, std::move(authored), {}, evaluations, options, settled)
                         : try_before(sample, *form, std::move(authored), write, evaluations, options, settled));
  }
  return settled;
}

}  // namespace passnet::author
