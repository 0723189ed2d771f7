// Builtins that need more than their arguments: the variables of files, and functions that they call.
#include <fmt/format.h>

#include <algorithm>

#include "base/text/strings.h"
#include "pass/plan/interpret/interpreter.h"

namespace passnet::pass {

Result<Value> Interpreter::call_special(std::string_view name, const Bound& args) {
  PASSNET_TRY_VOID(state_.steps.charge(kMaxStringBytes / 8));  // names that are kept
  if (name == "getattr") return get_attribute_by_name(args);
  if (name == "hasattr") return has_attribute(args);
  if (name == "setattr") return set_attribute(args);
  if (name == "map" || name == "filter") return map_items(args, name == "filter");
  if (name == "sorted") return sort_items(args);
  if (name == "functools.reduce") return reduce_items(args);
  if (name == "types.ModuleType") return make_module(args);
  return import_by_name(args, name != "importlib.import_module");
}

namespace {

Result<std::string> name_argument(const std::optional<Value>& value) {
  if (const auto* text = get_if<std::string>(*value)) return *text;
  return bad_pass(fmt::format("argument 'name': found {}, expected a string", describe(*value)));
}

Result<std::vector<Value>> sequence_argument(const std::optional<Value>& value, Budget& steps) {
  if (const Sequence* sequence = get_sequence(*value)) return copy_values(sequence->items, steps);
  return bad_pass(fmt::format("argument 'items': found {}, expected a list or tuple", describe(*value)));
}

}  // namespace

Result<Value> Interpreter::get_attribute_by_name(const Bound& args) {
  PASSNET_TRY(const std::string name, name_argument(args[1]));
  Result<Value> found = attribute_of(*args[0], state_.intern(name));
  if (found || !args[2]) return found;
  raised_.reset();
  return *args[2];
}

Result<Value> Interpreter::has_attribute(const Bound& args) {
  PASSNET_TRY(const std::string name, name_argument(args[1]));
  if (find_method(*args[0], name) != nullptr) return Value(true);
  const bool has = attribute_of(*args[0], state_.intern(name)).has_value();
  raised_.reset();
  return Value(has);
}

Result<Value> Interpreter::set_attribute(const Bound& args) {
  PASSNET_TRY(const std::string name, name_argument(args[1]));
  PASSNET_TRY_VOID(give_attribute(*args[0], state_.intern(name), *args[2]));
  return Value(NoneValue{});
}

Result<Value> Interpreter::map_items(const Bound& args, bool is_filter) {
  PASSNET_TRY(const std::vector<Value> items, sequence_argument(args[1], state_.steps));
  std::vector<Value> made;
  for (const Value& item : items) {
    PASSNET_TRY_VOID(state_.steps.charge(1));
    PASSNET_TRY(Value value, call(*args[0], {{item}, {}}));
    if (!is_filter) {
      PASSNET_TRY_VOID(state_.steps.charge(extra_steps(value)));
      made.push_back(std::move(value));
      continue;
    }
    PASSNET_TRY(const bool wanted, truth(value));
    if (!wanted) continue;
    PASSNET_TRY_VOID(state_.steps.charge(extra_steps(item)));
    made.push_back(item);
  }
  return make_sequence(true, std::move(made));
}

Result<Value> Interpreter::reduce_items(const Bound& args) {
  PASSNET_TRY(const std::vector<Value> items, sequence_argument(args[1], state_.steps));
  std::optional<Value> total = args[2];
  for (const Value& item : items) {
    PASSNET_TRY_VOID(state_.steps.charge(1));
    if (!total) {
      total = item;
      continue;
    }
    PASSNET_TRY(total, call(*args[0], {{*total, item}, {}}));
  }
  if (!total) return raise("TypeError", "reduce of no items");
  return *total;
}

/// By insertion: lists of a plan are short, and each comparison may fail.
Result<Value> Interpreter::sort_items(const Bound& args) {
  PASSNET_TRY(const std::vector<Value> items, sequence_argument(args[0], state_.steps));
  bool is_reverse = false;
  if (args[2]) {
    PASSNET_TRY(is_reverse, truth(*args[2]));
  }
  std::vector<std::pair<Value, Value>> sorted;  // key, item
  for (const Value& item : items) {
    Value key = item;
    if (args[1] && !get_if<NoneValue>(*args[1])) {
      PASSNET_TRY(key, call(*args[1], {{item}, {}}));
    }
    size_t at = sorted.size();
    for (; at > 0; --at) {
      PASSNET_TRY_VOID(state_.steps.charge(1));
      const Operator op = is_reverse ? Operator::Greater : Operator::Less;
      PASSNET_TRY(const Value is_before, apply_binary(op, key, sorted[at - 1].first, state_.steps));
      if (!std::get<bool>(is_before)) break;
    }
    sorted.emplace(sorted.begin() + static_cast<ptrdiff_t>(at), std::move(key), item);
  }
  std::vector<Value> made;
  for (auto& [key, item] : sorted) made.push_back(std::move(item));
  return make_sequence(true, std::move(made));
}

/// A module without a file, which others can give attributes to.
Result<Value> Interpreter::make_module(const Bound& args) {
  PASSNET_TRY(std::string name, name_argument(args[0]));
  auto made = std::make_unique<Frame>();
  made->program = frame().program;
  made->file = made.get();
  Value module = ModuleValue{std::move(name), made.get()};
  kept_.push_back(std::move(made));
  return module;
}

/// importlib's ways to a file beside the pass: by its name, or by its path.
Result<Value> Interpreter::import_by_name(const Bound& args, bool by_path) {
  PASSNET_TRY(std::string name, name_argument(args[by_path ? 1 : 0]));
  if (by_path) {
    name.erase(0, name.rfind('/') + 1);
    if (!name.ends_with(".py"))
      return raise("ImportError", fmt::format("file {} is no Python file", passnet::quoted(name)));
    name.resize(name.size() - 3);
  }
  return import_one({std::move(name), {}, {}, 0});
}

}  // namespace passnet::pass
