#include "author/judge/evaluations.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "record/score/score.h"
#include "record/verdict.h"

namespace passnet::author {

namespace {

/// Noise may show only in a second look what is no faster: what is by less than this gets one.
constexpr double kClearGain = 1.1;
// How often a graph is evaluated again that could not be measured.
constexpr int kRetries = 2;

bool is_narrow(const record::RunRecord& record) {
  const double ratio = record::median_ratio(record.reference, record.candidate);
  return ratio > 1 && ratio < kClearGain;
}

bool has_applied(const record::PassOutcome& one) { return one.matches > 0; }

std::vector<std::string> tried_on(const std::string& graph, const std::vector<ListedPass>& listed) {
  std::vector<std::string> tried;
  for (const ListedPass& one : listed) {
    if (!one.declined.contains(graph)) tried.push_back(one.identity);
  }
  return tried;
}

/// Tells whether `some` is `all` with none or several left out.
bool is_part_of(const std::vector<std::string>& some, const std::vector<std::string>& all) {
  auto next = all.begin();
  return std::ranges::all_of(some, [&](const std::string& one) {
    next = std::find(next, all.end(), one);
    return next != all.end() && next++ != all.end();
  });
}

/// Under the names of `listed`; what it says of passes that are not listed is left out.
record::RunRecord under_names(record::RunRecord record, const std::map<std::string, std::string>& identities,
                              const std::vector<ListedPass>& listed) {
  std::map<std::string, std::string> names;  // by what they were
  for (const auto& [name, identity] : identities) {
    const auto now = std::ranges::find(listed, identity, &ListedPass::identity);
    if (now != listed.end()) names[name] = now->name;
  }
  std::erase_if(record.passes, [&](const record::PassOutcome& one) { return !names.contains(one.pass); });
  for (record::PassOutcome& one : record.passes) one.pass = names.at(one.pass);
  for (record::Tuned& one : record.tuned) one.pass = names.at(one.pass);
  if (record.profile) {
    for (record::Profile::Launch& one : record.profile->launches) one.pass = names.at(one.pass);
  }
  return record;
}

}  // namespace

bool could_not_be_measured(const record::RunRecord& record) {
  const record::LeftOut out = record::left_out(record);
  return out == record::LeftOut::Disturbed || out == record::LeftOut::MachineFailed;
}

std::string why_not_measured(const record::RunRecord& record) {
  if (record.error.empty()) return "the machine did other work";
  const std::string_view line = std::string_view(record.error).substr(0, record.error.find('\n'));
  return std::string(line.substr(line.starts_with("error: ") ? 7 : 0));
}

Evaluations::Evaluations(Evaluate evaluate, IsSpent is_spent)
    : evaluate_(std::move(evaluate)), is_spent_(std::move(is_spent)) {}

const Evaluations::Known* Evaluations::find(const std::string& graph, const std::vector<ListedPass>& listed) const {
  const auto known = known_.find(graph);
  if (known == known_.end()) return nullptr;
  const std::vector<std::string> tried = tried_on(graph, listed);
  const auto stands_for_it = [&](const Known& one) {
    const auto is_tried = [&](const std::string& identity) {
      return std::ranges::find(tried, identity) != tried.end();
    };
    return is_part_of(tried, one.tried) && std::ranges::all_of(one.applied, is_tried);
  };
  const auto found = std::ranges::find_if(known->second, stands_for_it);
  return found == known->second.end() ? nullptr : &*found;
}

void Evaluations::keep(const record::RunRecord& record, const std::vector<ListedPass>& listed) {
  // Passes that declined say that no pass applied, which is found out at once.
  if (could_not_be_measured(record) || is_narrow(record) || std::ranges::none_of(record.passes, has_applied)) return;
  Known known{record, tried_on(record.graph, listed), {}, {}};
  for (const ListedPass& one : listed) {
    known.identities[one.name] = one.identity;
    const auto outcome = std::ranges::find(record.passes, one.name, &record::PassOutcome::pass);
    if (outcome != record.passes.end() && has_applied(*outcome)) known.applied.insert(one.identity);
  }
  known_[record.graph].push_back(std::move(known));
}

/// Evaluates graphs again, a few times, that could not be measured. nullopt: it was cut short before all were evaluated once.
Result<std::optional<Records>> Evaluations::measured(const graphdir::Sample& sample, const IsSpent& is_spent) {
  PASSNET_TRY(std::optional<Records> made, evaluate_(sample, is_spent));
  for (int retry = 0; made && retry < kRetries; ++retry) {
    std::vector<std::string> again;
    for (const record::RunRecord& one : *made) {
      if (could_not_be_measured(one)) again.push_back(one.graph);
    }
    if (again.empty() || (is_spent && is_spent())) break;
    PASSNET_TRY(std::optional<Records> more, evaluate_(graphdir::with_graphs(sample, again), is_spent));
    if (!more) break;
    std::erase_if(*made, could_not_be_measured);
    std::ranges::move(*more, std::back_inserter(*made));
  }
  return made;
}

Result<std::optional<Records>> Evaluations::of(const graphdir::Sample& sample, const std::vector<ListedPass>& listed,
                                               Begun begun) {
  Records records;
  std::vector<std::string> others;
  for (const std::string& graph : sample.graph_names) {
    if (const Known* known = find(graph, listed))
      records.push_back(under_names(known->record, known->identities, listed));
    else
      others.push_back(graph);
  }
  if (others.empty()) return std::optional(std::move(records));
  const IsSpent is_spent = begun == Begun::InBudget ? is_spent_ : IsSpent();
  if (is_spent && is_spent()) return std::optional<Records>();
  PASSNET_TRY(std::optional<Records> made, measured(graphdir::with_graphs(sample, others), is_spent));
  if (!made) return made;
  for (const record::RunRecord& one : *made) keep(one, listed);
  std::ranges::move(*made, std::back_inserter(records));
  std::ranges::sort(records, {}, [&](const record::RunRecord& one) {
    return std::ranges::find(sample.graph_names, one.graph) - sample.graph_names.begin();
  });
  return std::optional(std::move(records));
}

}  // namespace passnet::author
