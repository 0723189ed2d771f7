#include "rewrite/generalize.h"

namespace passnet::rewrite {

namespace {

bool holds_sizes(ir::Role role) {
  switch (role) {
    case ir::Role::View:
    case ir::Role::Expand:
    case ir::Role::Create:
    case ir::Role::Range:
    case ir::Role::Slice:
    case ir::Role::Split: return true;
    default: return false;
  }
}

}  // namespace

bool may_stand_for_size(const ir::CanonicalCall& call, uint32_t argument, const ir::Arg& expected,
                        const ir::Arg& found) {
  if (expected.kind != ir::ArgKind::Int || found.kind != ir::ArgKind::Int) return false;
  if (expected.integer < 1 || found.integer < 1 || call.signature == nullptr || argument >= call.names.size())
    return false;
  const ir::Parameter* parameter = call.signature->find(call.names[argument]);
  return parameter != nullptr && holds_sizes(parameter->role);
}

bool is_one_symbol(int64_t number) { return number > 1; }

}  // namespace passnet::rewrite
