// Which calls a worker refuses, as far as names tell without PyTorch: those of targets that it does not know or run, and
// those whose arguments fit no signature. The shapes and types of values are PyTorch's to judge.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "ir/ops/signature.h"

namespace passnet::ir {

/// The parameters of a function of Python that python_rows.h lists, "torch.asarray" or "Tensor.to"; null: it does not.
const std::vector<Slot>* python_signature(std::string_view spelling);

/// BadInput: why the arguments of a call fit a signature not. function: "torch.asarray".
Error misfit_error(std::string_view function, std::span<const Slot> signature, const Misfit& misfit, size_t positional,
                   std::span<const std::string_view> keywords);

/// Unsupported: a function or method is not known (hint: the nearest), or not run (and why).
Error unknown_call(NodeKind kind, std::string_view target);

/// Errors: those of the first call that a worker refuses, at its place.
Result<void> check_calls(const Graph& graph);

}  // namespace passnet::ir
