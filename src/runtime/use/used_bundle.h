// A bundle in the process of a user: its graph, called on the tensors that are no weights of the bundle. Internal to
// runtime/ (includes torch).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bundle/bundle.h"
#include "runtime/use/used_graph.h"

namespace passnet::runtime {

class UsedBundle final : public Callable {
 public:
  /// Errors: as bundle::read() and UsedGraph::load().
  static Result<std::unique_ptr<UsedBundle>> load(const std::filesystem::path& path);

  const std::vector<std::string>& input_names() const override { return names_; }
  size_t operator_calls() const override { return used().operator_calls(); }
  size_t sites() const override { return used().sites(); }
  bool may_write() const override { return used().may_write(); }
  /// Runs without passes on inputs other than those that its passes were made for.
  Result<std::vector<c10::IValue>> call(std::vector<at::Tensor> inputs) override;

  const bundle::Manifest& manifest() const { return manifest_; }
  /// Why no pass is used; empty: passes are used.
  const std::string& why_not() const { return why_; }

 private:
  UsedBundle() = default;
  UsedGraph& used() const { return fast_ ? *fast_ : *plain_; }

  bundle::Manifest manifest_;
  std::vector<std::string> names_;  // inputs that are no weights
  std::vector<at::Tensor> given_;   // by input of the graph: its weight, or no tensor
  std::unique_ptr<UsedGraph> plain_, fast_;
  std::string why_;
};

}  // namespace passnet::runtime
