#include "dataset/sample_name.h"

#include <fmt/format.h>

#include <vector>

#include "analysis/dtype_variant.h"
#include "analysis/kernel_count.h"
#include "analysis/op_name.h"
#include "base/text/strings.h"

namespace passnet::dataset {

namespace {

constexpr size_t kMostWords = 5, kMostLetters = 48;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// "layer_norm" of torch.nn.functional.layer_norm, "eq" of __eq__.
std::string plain_word(std::string_view name) {
  name = name.substr(name.rfind('.') + 1);
  while (name.starts_with('_')) name.remove_prefix(1);
  while (name.ends_with('_')) name.remove_suffix(1);
  std::string word;
  for (const char c : name) {
    if (is_letter(c)) word += c;
  }
  return word;
}

std::vector<std::string> words_of(const ir::Graph& graph, bool kernels_only) {
  const std::vector<bool> casts = analysis::variant_casts(graph);
  std::vector<std::string> words;
  for (size_t i = 0; i < analysis::body_size(graph); ++i) {
    const ir::NodeId id = analysis::body_node(graph, i);
    if (casts[id] || (kernels_only && analysis::kernel_class(graph, id) == ir::KernelClass::Free)) continue;
    std::string word = plain_word(analysis::canonical_op_name(graph.node(id)));
    if (!word.empty() && (words.empty() || words.back() != word)) words.push_back(std::move(word));
  }
  return words;
}

}  // namespace

std::string operator_words(const ir::Graph& graph) {
  std::vector<std::string> words = words_of(graph, true);
  if (words.empty()) words = words_of(graph, false);
  if (words.empty()) return "graph";
  if (words.size() > kMostWords) words.resize(kMostWords);
  while (words.size() > 1 && join(words, "_").size() > kMostLetters) words.pop_back();
  return join(words, "_").substr(0, kMostLetters);
}

std::string sample_name(std::string_view words, std::string_view hash, size_t digits) {
  return fmt::format("{}_{}", words, hash.substr(0, digits));
}

}  // namespace passnet::dataset
