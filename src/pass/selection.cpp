#include "pass/selection.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file/file.h"
#include "base/text/strings.h"
#include "pass/source.h"

namespace passnet::pass {

namespace {

std::vector<std::string> names_of(const std::vector<fs::path>& paths) {
  std::vector<std::string> names;
  for (const fs::path& path : paths) names.push_back(path.stem().string());
  return names;
}

/// Those of pass_dir. Where others are given it need not have any.
Result<std::vector<fs::path>> list_own(const SourceFiles& files, const fs::path& pass_dir, bool others_are_given) {
  if (others_are_given && (pass_dir.empty() || !entry_exists(pass_dir / kListFile))) return std::vector<fs::path>{};
  return list_passes(files, pass_dir);
}

std::vector<std::string> in_one_only(const std::vector<std::string>& one, const std::vector<std::string>& other) {
  std::vector<std::string> only;
  for (const std::string& name : one) {
    if (std::ranges::find(other, name) == other.end()) only.push_back(quoted(name));
  }
  return only;
}

bool is_permutation(const std::vector<std::string>& order, const std::vector<std::string>& names) {
  return order.size() == names.size() && in_one_only(names, order).empty();
}

/// what: "the order"; of: "the passes", "the given passes".
Error no_permutation(const std::vector<std::string>& order, const std::vector<std::string>& names,
                     const std::string& what, const std::string& of) {
  const std::vector<std::string> lacking = in_one_only(names, order), foreign = in_one_only(order, names);
  std::string difference;
  if (!lacking.empty()) difference += fmt::format("it lacks {}", join(lacking, ", "));
  if (!foreign.empty())
    difference += fmt::format("{}{} {} none of them", difference.empty() ? "" : ", and ", join(foreign, ", "),
                              foreign.size() == 1 ? "is" : "are");
  return bad_input(fmt::format("{} is no permutation of {}: {}", what, of, difference))
      .with_hint(fmt::format("expected each of these once: {}", join(names, ", ")));
}

/// The given ones as pass_dir orders them, if it does.
Result<std::vector<std::string>> order_given(const SourceFiles& files, const fs::path& pass_dir,
                                             std::vector<std::string> names) {
  const fs::path file = pass_dir / kGivenListFile;
  if (names.empty() || pass_dir.empty() || !entry_exists(file)) return names;
  PASSNET_TRY(const SourceFiles::Text text, files.read(file, FileKind::Kernel));
  PASSNET_TRY(std::vector<std::string> order, parse_pass_names(file.string(), *text));
  if (is_permutation(order, names)) return order;
  return no_permutation(order, names, quoted(file.string(), 200), "the given passes");
}

}  // namespace

Result<std::vector<std::string>> read_pass_order(const fs::path& file) {
  PASSNET_TRY(const std::string text, read_file(file, FileKind::Kernel));
  return parse_pass_names(file.string(), text);
}

Result<Listing> list_selected(const SourceFiles& files, const fs::path& pass_dir, const Selection& selection) {
  Listing listing;
  std::vector<std::string> given;
  if (!selection.given.empty()) {
    PASSNET_TRY(listing.given, list_passes(files, selection.given, kGivenListFile));
    PASSNET_TRY(given, order_given(files, pass_dir, names_of(listing.given)));
  }
  PASSNET_TRY(listing.own, list_own(files, pass_dir, !given.empty()));
  listing.order = given;
  std::vector<std::string> others;
  for (std::string& name : names_of(listing.own)) {
    if (std::ranges::find(given, name) == given.end()) others.push_back(std::move(name));
  }
  listing.order.insert(listing.order.end(), others.begin(), others.end());
  const std::vector<std::string>& asked = selection.order;
  if (asked.empty()) return listing;
  if (!is_permutation(asked, listing.order)) {
    if (given.empty() || !is_permutation(asked, given))
      return no_permutation(asked, listing.order, "the order that was asked for", "the passes");
    listing.order = asked;
    listing.order.insert(listing.order.end(), others.begin(), others.end());
    return listing;
  }
  listing.order = asked;
  return listing;
}

}  // namespace passnet::pass
