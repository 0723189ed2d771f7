#include "dataset/official/piece.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/op_name.h"
#include "ir/copy.h"

namespace passnet::dataset::official {

namespace {

// Upstream's own replacements, then functions that a second trace calls by the module that defines them.
constexpr std::pair<std::string_view, std::string_view> kPublicTargets[] = {
    {"torch._C._nn.avg_pool2d", "torch.nn.functional.avg_pool2d"},
    {"torch._C._nn.softplus", "torch.nn.functional.softplus"},
    {"torch._C._nn.one_hot", "torch.nn.functional.one_hot"},
    {"torch._C._nn.pad", "torch.nn.functional.pad"},
    {"torch._C._nn.gelu", "torch.nn.functional.gelu"},
    {"torch._C._nn.scaled_dot_product_attention", "torch.nn.functional.scaled_dot_product_attention"},
    {"torch._C._nn.linear", "torch.nn.functional.linear"},
    {"torch._C._fft.fft_irfft", "torch.fft.irfft"},
    {"torch._C._fft.fft_rfft", "torch.fft.rfft"},
    {"torch._C._fft.fft_fftn", "torch.fft.fftn"},
    {"torch._C._special.special_logit", "torch.special.logit"},
    {"torch._C._linalg.linalg_vector_norm", "torch.linalg.vector_norm"},
    {"torch._C._linalg.linalg_norm", "torch.linalg.norm"},
    {"torch._C._set_grad_enabled", "torch.set_grad_enabled"},
    {"torch._C.set_grad_enabled", "torch.set_grad_enabled"},
    {"torch._functorch.vmap.lazy_load_decompositions", "torch._functorch.predispatch.lazy_load_decompositions"},
    {"torch._functorch.vmap._add_batch_dim", "torch._functorch.predispatch._add_batch_dim"},
    {"torch._functorch.vmap._remove_batch_dim", "torch._functorch.predispatch._remove_batch_dim"},
    {"torch._functorch.vmap._vmap_decrement_nesting", "torch._functorch.predispatch._vmap_decrement_nesting"},
    {"torch._functorch.vmap._vmap_increment_nesting", "torch._functorch.predispatch._vmap_increment_nesting"},
};

bool has_capital(std::string_view name) {
  return std::ranges::any_of(name, [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

analysis::Piece cut_piece(const ir::Graph& whole, std::span<const std::string> names, analysis::Range range) {
  range.end = std::min(range.end, analysis::body_size(whole));
  analysis::Boundary boundary =
      analysis::find_boundary(whole, range, std::vector<std::string_view>(names.begin(), names.end()));
  size_t values = 0;
  std::vector<analysis::ArgumentName> arguments;
  for (size_t i = 0; i < boundary.inputs.size(); ++i) {
    analysis::ArgumentName& name = arguments.emplace_back();
    name.signature = name.body = fmt::format("in_{}", i);
    if (has_capital(names[boundary.inputs[i]])) name.body = fmt::format("tmp_{}", values++);
  }
  return analysis::cut_at(whole, analysis::nodes_of(whole, range), std::move(boundary), arguments,
                          [&] { return fmt::format("tmp_{}", values++); });
}

ir::Graph with_public_targets(const ir::Graph& graph) {
  ir::Graph made;
  made.file = graph.file;
  ir::GraphCopy copying(graph, made);
  copying.retarget = [](const ir::Node& node) {
    const auto* found =
        std::ranges::find(kPublicTargets, node.target, &std::pair<std::string_view, std::string_view>::first);
    return node.kind != ir::NodeKind::CallFunction || found == std::end(kPublicTargets) ? node.target : found->second;
  };
  for (ir::NodeId id = 0; id < graph.size(); ++id) copying.copy(id);
  return made;
}

}  // namespace passnet::dataset::official
