#include "fx/syntax/scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <random>
#include <utility>

#include "base/hash.h"
#include "fx/syntax/lexer.h"

namespace passnet::fx {

namespace {
uint32_t hash_name(std::string_view name) {
  static const uint64_t seed = std::random_device{}();
  return static_cast<uint32_t>(fast_hash(name.data(), name.size(), seed));
}

bool is_reserved(std::string_view name) {
  static constexpr std::string_view kGlobals[] = {"torch", "device", "inf",  "nan",      "slice",  "Ellipsis",
                                                  "float", "self",   "math", "operator", "passnet"};
  return is_keyword(name) || std::ranges::find(kGlobals, name) != std::end(kGlobals);
}
}  // namespace

Scope::Scope(size_t expected_names) : slots_(std::bit_ceil(std::max<size_t>(expected_names * 2, 64))) {}

size_t Scope::probe(std::string_view name, uint32_t hash) const {
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.index == 0 || (slot.hash == hash && bindings_[slot.index - 1].name == name)) return at;
  }
}

const Binding* Scope::find(std::string_view name) const {
  const Slot& slot = slots_[probe(name, hash_name(name))];
  return slot.index == 0 ? nullptr : &bindings_[slot.index - 1];
}

Binding* Scope::find(std::string_view name) { return const_cast<Binding*>(std::as_const(*this).find(name)); }

Binding& Scope::operator[](std::string_view name) {
  const uint32_t hash = hash_name(name);
  Slot* slot = &slots_[probe(name, hash)];
  if (slot->index == 0) {
    if ((bindings_.size() + 1) * 2 > slots_.size()) {
      grow();
      slot = &slots_[probe(name, hash)];
    }
    bindings_.push_back({});
    bindings_.back().name = name;
    bindings_.back().reserved = is_reserved(name);
    *slot = {hash, static_cast<uint32_t>(bindings_.size())};
  }
  return bindings_[slot->index - 1];
}

void Scope::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.index == 0) continue;
    size_t at = slot.hash & mask;
    while (slots_[at].index != 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

void Scope::bind_module(std::string_view name, std::string_view path) {
  Binding& binding = (*this)[name];
  binding.kind = Binding::Kind::Module;
  binding.value = ir::Arg::of_text(ir::ArgKind::Constant, path);
  (*this)[path.substr(0, path.find('.'))].reserved = true;
}

std::string_view Scope::claim_fresh(ir::Graph& graph, std::string_view base, ir::NodeId owner) {
  Binding& binding = (*this)[base];
  if (is_free(binding) && !binding.parameter) {
    binding.owner = owner;
    return base;
  }
  for (;;) {
    const std::string candidate = fmt::format("{}_{}", base, binding.next_suffix++);
    const Binding* taken = find(candidate);
    if (taken != nullptr && (!is_free(*taken) || taken->parameter)) continue;
    const std::string_view name = graph.intern(candidate);
    (*this)[name].owner = owner;
    return name;
  }
}

}  // namespace passnet::fx
