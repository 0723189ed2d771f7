#include "author/forms/candidates.h"

#include "base/file/file.h"
#include "base/hash.h"
#include "pass/template.h"

namespace passnet::author {

namespace {

/// The texts, without the name, which kernels are named by too.
std::string identity_of(const Written& one) {
  std::string texts = one.python.text + one.cpp + one.cuda;
  for (size_t at = texts.find(one.name); at != std::string::npos; at = texts.find(one.name, at + 1))
    texts.replace(at, one.name.size(), "@");
  return sha256_hex(texts);
}

}  // namespace

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
    Candidate candidate{one.name, identity_of(one), {}, one.products > 0 || !authored.left.empty(), rewrite};
    for (const auto& [graph, condition] : one.python.sites) {
      candidate.graphs.push_back(graph);
      candidate.conditions.push_back(condition);
      if (declined.empty()) continue;
      if (const auto why = declined[candidates.size()].find(graph); why != declined[candidates.size()].end())
        candidate.declined.insert(*why);
    }
    if (!candidate.declined.empty()) PASSNET_TRY_VOID(rewrite(candidate.declined));
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

}  // namespace passnet::author
