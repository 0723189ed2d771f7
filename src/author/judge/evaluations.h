// Evaluations of passes, none of which is made twice without need.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "graphdir/sample.h"
#include "record/record.h"

namespace passnet::author {

using Records = std::vector<record::RunRecord>;
/// Tells whether the budget is used up. Empty: there is none.
using IsSpent = std::function<bool()>;
/// Evaluates the passes that stand in sample.pass_dir. is_spent: asked all the time by another thread; true: the evaluation
/// ends. Returns: a record of each graph; nullopt: it ended before. Errors: Resource: the machine's, or interrupted.
using Evaluate = std::function<Result<std::optional<Records>>(const graphdir::Sample& sample, const IsSpent& is_spent)>;

/// A pass in a list that is evaluated.
struct ListedPass {
  std::string name;
  std::string identity;            // equal for passes that do the same, whatever they are called and decline
  std::set<std::string> declined;  // graphs; to others it may apply, also to those that it is not written for
};

/// Tells whether a record tells nothing of its passes: the machine failed, or did other work.
bool could_not_be_measured(const record::RunRecord& record);
/// The reason. REQUIRES: could_not_be_measured().
std::string why_not_measured(const record::RunRecord& record);

/// Begin an evaluation only in the budget, or always.
enum class Begun : uint8_t { InBudget, Always };

/// A graph is evaluated once with the same passes: what it was evaluated with stands for lists without passes that did not
/// apply, or that decline it. A graph that could not be measured is evaluated up to two times more. What still could not be
/// measured, is faster by little, or has no pass after all is evaluated anew when it is asked for again.
class Evaluations {
 public:
  Evaluations(Evaluate evaluate, IsSpent is_spent);

  /// The sample's graphs with these passes, which stand in sample.pass_dir. Returns: a record of each, in the order of the
  /// graphs; those that were known have the names of these passes, and of no others. nullopt: none is begun any more,
  /// never with Begun::Always. Errors: of `evaluate`.
  Result<std::optional<Records>> of(const graphdir::Sample& sample, const std::vector<ListedPass>& listed,
                                    Begun begun = Begun::InBudget);

 private:
  struct Known {
    record::RunRecord record;
    std::vector<std::string> tried;                 // identities of the passes that did not decline it
    std::set<std::string> applied;                  // of these
    std::map<std::string, std::string> identities;  // by name
  };
  Result<std::optional<Records>> measured(const graphdir::Sample& sample, const IsSpent& is_spent);
  const Known* find(const std::string& graph, const std::vector<ListedPass>& listed) const;
  void keep(const record::RunRecord& record, const std::vector<ListedPass>& listed);

  Evaluate evaluate_;
  IsSpent is_spent_;
  std::map<std::string, std::vector<Known>> known_;  // by graph
};

}  // namespace passnet::author
