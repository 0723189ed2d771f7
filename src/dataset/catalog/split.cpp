#include "dataset/catalog/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>

#include "base/check.h"
#include "base/file/file.h"
#include "dataset/catalog/family.h"
#include "dataset/catalog/sample_list.h"
#include "fx/syntax/parser.h"
#include "graphdir/sample.h"
#include "run/batch/job.h"

namespace passnet::dataset {

namespace {

/// A sample, as a member of its family.
struct FamilyMember {
  ListedSample sample;
  std::string family;
  std::optional<Error> error;
};

void find_samples(const fs::path& directory, std::vector<fs::path>& samples) {
  if (entry_exists(directory / "graph_list.txt") || entry_exists(directory / "model.py")) {
    samples.push_back(directory);
    return;
  }
  std::error_code failed;
  for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end; entry.increment(failed)) {
    std::error_code ignored;
    if (!entry->is_symlink(ignored) && entry->is_directory(ignored)) find_samples(entry->path(), samples);
  }
}

Result<void> read_family(const fs::path& path, FamilyMember& member) {
  PASSNET_TRY(const graphdir::Sample sample, graphdir::load_sample(path));
  PASSNET_TRY(const ir::Graph graph, fx::load_model((sample.graph_paths.front() / "model.py").string()));
  member.sample.graphs = sample.graph_paths.size();
  member.sample.ops = op_sequence(graph);
  member.family = family_of(graph);
  return {};
}

Result<std::vector<FamilyMember>> read_members(const fs::path& dataset, const graphdir::TreeOptions& tree,
                                               SplitReport& report,
                                               const std::function<void(const std::string&)>& counted) {
  std::vector<fs::path> paths;
  find_samples(dataset, paths);
  std::sort(paths.begin(), paths.end());
  std::vector<FamilyMember> members;
  PASSNET_TRY_VOID(run::for_each_item(
      std::span(paths), tree,
      [&](const fs::path& path, size_t) -> Result<FamilyMember> {
        FamilyMember member;
        member.sample.path = path.lexically_relative(dataset).string();
        if (const Result<void> read = read_family(path, member); !read) member.error = read.error();
        return member;
      },
      [&](FamilyMember member) -> Result<void> {
        counted(member.sample.path);
        if (member.error)
          report.failed.push_back(fmt::format("{}: {}", member.sample.path, member.error->message));
        else
          members.push_back(std::move(member));
        return {};
      }));
  if (members.empty())
    return bad_input(fmt::format("no sample at or below '{}' can be read", dataset.string()))
        .with_hint("a sample has a graph_list.txt or a model.py: passnet dataset samples makes some");
  return members;
}

/// Paths that stand for all that lies at or below them.
class Named {
 public:
  explicit Named(const std::vector<std::string>& paths) : paths_(paths.begin(), paths.end()) {}
  bool covers(fs::path path) const {
    for (; !path.empty(); path = path.parent_path()) {
      if (paths_.contains(path.string())) return true;
    }
    return false;
  }

 private:
  std::unordered_set<std::string> paths_;
};

// The families of the samples that the list names, themselves, by a graph in them or by a directory above.
Result<std::set<std::string>> kept_families(const fs::path& dataset, const fs::path& keep,
                                            const std::vector<FamilyMember>& members, SplitReport& report) {
  std::set<std::string> families;
  if (keep.empty()) return families;
  PASSNET_TRY(PathList list, read_list(keep, dataset));
  report.not_found = std::move(list.missing);
  const Named listed(list.paths);
  // A graph in a sample names that sample: what is listed and its directories.
  std::unordered_set<std::string> above;
  for (const std::string& line : list.paths) {
    for (fs::path path = line; !path.empty(); path = path.parent_path()) above.insert(path.string());
  }
  for (const FamilyMember& member : members) {
    if (listed.covers(member.sample.path) || above.contains(member.sample.path)) families.insert(member.family);
  }
  if (families.empty())
    return bad_input(fmt::format("'{}' names no sample of '{}'", keep.string(), dataset.string()))
        .with_hint("its lines are to be paths below the dataset, with any directories before");
  return families;
}

void assign(std::vector<FamilyMember>& members, const std::set<std::string>& kept, const SplitOptions& options,
            SplitReport& report) {
  std::map<std::string, std::string> sides;
  for (FamilyMember& member : members) {
    const auto [side, is_new] = sides.try_emplace(member.family, "train");
    if (is_new) {
      const bool drawn = is_for_evaluation(member.family, options.eval_share, options.seed);
      const bool forced = !drawn && kept.contains(member.family);
      if (drawn || forced) side->second = "eval";
      report.families_kept += forced;
      report.families_for_evaluation += drawn || forced;
    }
    member.sample.split = side->second;
    report.evaluation += member.sample.split == "eval";
    report.graphs += member.sample.graphs;
  }
  report.families = sides.size();
  report.samples = members.size();
}

// Of the samples as they are listed, not by how they were assigned.
void check_sides(const std::vector<FamilyMember>& members) {
  std::map<std::string, std::set<std::string>> families;
  for (const FamilyMember& member : members) families[member.sample.split].insert(member.family);
  for (const std::string& family : families["eval"])
    PASSNET_CHECK(!families["train"].contains(family), "a family is on both sides");
}

}  // namespace

Result<SplitReport> write_split(const fs::path& dataset, const fs::path& lists, const SplitOptions& options,
                                const std::function<void(const std::string&)>& counted) {
  if (!may_write_lists(lists))
    return bad_input(fmt::format("'{}' has lists that this command did not write", lists.string()))
        .with_hint("they stay as they are: give another place with --out");
  SplitReport report;
  PASSNET_TRY(std::vector<FamilyMember> members, read_members(dataset, options.tree, report, counted));
  PASSNET_TRY(const std::set<std::string> kept, kept_families(dataset, options.keep, members, report));
  assign(members, kept, options, report);
  check_sides(members);
  std::vector<ListedSample> samples;
  for (FamilyMember& member : members) samples.push_back(std::move(member.sample));
  PASSNET_TRY_VOID(write_lists(lists, dataset, samples));
  return report;
}

}  // namespace passnet::dataset
