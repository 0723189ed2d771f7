// Types without data: a call of a graph that computes what is known of its values from their types. Internal to
// runtime/ (includes torch).
#pragma once

#include <ATen/core/ivalue.h>

#include <functional>
#include <string>

#include "runtime/plan/plan.h"

namespace passnet::runtime {

/// A node and its value, or null and the reason why it has no type without its data.
using TypeVisitor = std::function<void(const ir::Node& node, const c10::IValue* value, const std::string& reason)>;

/// Tensors are meta tensors but for small ones whose data is known, since sizes may depend on them. `visit` sees every
/// node but the output. REQUIRES: every input is set, to a meta tensor or to a CPU tensor that counts as known.
void infer_types(Plan& plan, const TypeVisitor& visit);

}  // namespace passnet::runtime
