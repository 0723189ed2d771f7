#include "run/apply/select_passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "analysis/identity.h"
#include "base/file/paths.h"
#include "base/text/strings.h"

namespace passnet::run {

namespace {

/// Keeps the passes whose `key` is among the first `limit` distinct ones; the others are surplus.
void keep_first(std::vector<pass::Pass>& passes, std::optional<int> limit, const char* option, const char* what,
                const std::function<std::string(const pass::Pass&)>& key, std::vector<record::SurplusPass>& surplus) {
  if (!limit) return;
  std::vector<std::string> distinct;
  std::vector<pass::Pass> kept;
  for (pass::Pass& one : passes) {
    const std::string its = key(one);
    const bool known = std::ranges::find(distinct, its) != distinct.end();
    if (!known && distinct.size() >= static_cast<size_t>(*limit)) {
      surplus.push_back(
          {one.name, fmt::format("{} {}: another {} than those of the passes before it", option, *limit, what)});
      continue;
    }
    if (!known) distinct.push_back(its);
    kept.push_back(std::move(one));
  }
  passes = std::move(kept);
}

Result<std::vector<pass::Pass>> load_all(const SourceFiles& sources, const std::vector<fs::path>& files,
                                         const pass::LoadOptions& options) {
  std::vector<pass::Pass> passes;
  for (const fs::path& file : files) {
    PASSNET_TRY(pass::Pass loaded, pass::load_pass(sources, file, options));
    passes.push_back(std::move(loaded));
  }
  return passes;
}

Result<pass::Listing> list_of(const SourceFiles& files, const graphdir::Sample& sample,
                              const pass::Selection& selection) {
  if (sample.pass_dir.empty() && selection.given.empty()) {
    return bad_input(fmt::format("sample '{}' has no pass_dir", sample.name))
        .with_hint("write passes (passnet pass new), or evaluate without them: --sides eager");
  }
  if (!sample.pass_dir.empty() && !directory_exists(sample.pass_dir)) {
    return bad_input(fmt::format("the passes are missing: expected the directory '{}'", sample.pass_dir.string()))
        .with_hint("write passes there (passnet pass new)");
  }
  return pass::list_selected(files, sample.pass_dir, selection);
}

}  // namespace

SourceFiles sources_of(const graphdir::Sample& sample, const pass::Selection& selection, bool follow_links) {
  std::vector<fs::path> roots = sample.roots;
  if (!selection.given.empty()) roots.push_back(selection.given);
  return SourceFiles(std::move(roots), follow_links);
}

Result<SelectedPasses> select_passes(const SourceFiles& files, const graphdir::Sample& sample,
                                     const pass::Selection& selection, const pass::LoadOptions& options) {
  PASSNET_TRY(const pass::Listing listing, list_of(files, sample, selection));
  PASSNET_TRY(std::vector<pass::Pass> own, load_all(files, listing.own, options));
  const std::vector<std::string> in_list = [&] {
    std::vector<std::string> names;
    for (const pass::Pass& one : own) names.push_back(one.name);
    return names;
  }();
  SelectedPasses selected;
  keep_first(
      own, selection.function_limit, "--pass-replacement-func-limit", "function",
      [](const pass::Pass& one) { return one.plan.entry_id; }, selected.surplus);
  keep_first(
      own, selection.pattern_limit, "--pass-pattern-limit", "pattern",
      [](const pass::Pass& one) { return analysis::identity_hash(one.pattern); }, selected.surplus);
  std::ranges::stable_sort(selected.surplus, {}, [&](const record::SurplusPass& one) {
    return std::ranges::find(in_list, one.pass) - in_list.begin();
  });
  std::map<std::string, pass::Pass> by_name;
  for (pass::Pass& one : own) by_name.emplace(one.name, std::move(one));
  for (const fs::path& file : listing.given) {
    if (by_name.contains(file.stem().string())) continue;  // the sample's own takes its place
    PASSNET_TRY(pass::Pass loaded, pass::load_pass(files, file, options));
    by_name.emplace(loaded.name, std::move(loaded));
  }
  for (const std::string& name : listing.order) {
    if (const auto found = by_name.find(name); found != by_name.end())
      selected.passes.push_back(std::move(found->second));
  }
  return selected;
}

bool has_limits(const pass::Selection& selection) {
  return selection.pattern_limit.has_value() || selection.function_limit.has_value();
}

Result<std::vector<fs::path>> files_to_apply(const SourceFiles& sources, const graphdir::Sample& sample,
                                             const pass::Selection& selection) {
  PASSNET_TRY(const pass::Listing listing, list_of(sources, sample, selection));
  std::vector<fs::path> files;
  for (const std::string& name : listing.order) {
    for (const auto* list : {&listing.own, &listing.given}) {
      const auto found = std::ranges::find(*list, name, [](const fs::path& path) { return path.stem().string(); });
      if (found == list->end()) continue;
      files.push_back(absolute_path(*found));
      break;  // the sample's own takes the place of a given one
    }
  }
  return files;
}

std::vector<fs::path> listed_files(const SourceFiles& sources, const graphdir::Sample& sample,
                                   const pass::Selection& selection) {
  if (sample.pass_dir.empty() && selection.given.empty()) return {};
  const Result<pass::Listing> listing = pass::list_selected(sources, sample.pass_dir, selection);
  if (!listing) return {};
  std::vector<fs::path> files;
  for (const std::string& name : listing->order) {
    for (const auto* list : {&listing->own, &listing->given}) {
      const auto found = std::ranges::find(*list, name, [](const fs::path& path) { return path.stem().string(); });
      if (found != list->end()) files.push_back(*found);
    }
  }
  return files;
}

}  // namespace passnet::run
