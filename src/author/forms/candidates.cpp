#include "author/forms/candidates.h"

#include <algorithm>

#include "base/file.h"
#include "pass/template.h"

namespace passnet::author {

Result<std::vector<Candidate>> write_candidates(const std::filesystem::path& pass_dir, const Authored& authored,
                                                const std::vector<std::map<std::string, std::string>>& declined) {
  PASSNET_TRY_VOID(pass::write_passes(pass_dir, texts_of(authored)));
  std::vector<Candidate> candidates;
  for (const Written& one : authored.passes) {
    const auto rewrite = [&one, file = pass_dir / (one.name + ".py")](
                             const std::map<std::string, std::string>& declined) -> Result<void> {
      const std::string python = declined.empty() ? one.python.text : declining(one.python, declined);
      return write_file(file, std::string_view(python));
    };
    Candidate candidate{one.name, {}, one.products > 0 || !authored.left.empty(), rewrite};
    for (const auto& [graph, condition] : one.python.sites) candidate.graphs.push_back(graph);
    for (const auto& [graph, why] :
         declined.empty() ? std::map<std::string, std::string>() : declined[candidates.size()]) {
      if (std::ranges::find(candidate.graphs, graph) != candidate.graphs.end()) candidate.declined.emplace(graph, why);
    }
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

}  // namespace passnet::author
