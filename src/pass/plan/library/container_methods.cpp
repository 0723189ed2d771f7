// Methods of strings, lists, tuples and dicts in a plan.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "pass/plan/library/builtins.h"

namespace passnet::pass {

namespace {

const std::string& text_of(const Bound& args) { return std::get<std::string>(*args[0]); }

Result<std::string> text_argument(const std::optional<Value>& value, std::string_view name) {
  if (const auto* text = value ? get_if<std::string>(*value) : nullptr) return *text;
  return bad_pass(fmt::format("argument '{}': found {}, expected a string", name,
                              value ? describe(*value) : std::string("nothing")));
}

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

template <int (*change)(int)>
Result<Value> call_change(PlanState& state, const Bound& args) {
  std::string text = text_of(args);
  PASSNET_TRY_VOID(state.steps.charge(text.size() / 8));
  // Only letters of ASCII: names of passes, dtypes and routes are made of them.
  std::ranges::transform(text, text.begin(), [](char c) {
    return static_cast<unsigned char>(c) < 0x80 ? static_cast<char>(change(static_cast<unsigned char>(c))) : c;
  });
  return Value(std::move(text));
}

template <bool (std::string::*matches)(std::string_view) const noexcept>
Result<Value> call_matches(PlanState& state, const Bound& args) {
  if (const Sequence* several = get_sequence(*args[1])) {
    for (const Value& one : several->items) {
      PASSNET_TRY_VOID(state.steps.charge(1 + extra_steps(one)));
      PASSNET_TRY(const std::string text, text_argument(one, "text"));
      if ((text_of(args).*matches)(text)) return Value(true);
    }
    return Value(false);
  }
  PASSNET_TRY(const std::string text, text_argument(args[1], "text"));
  return Value((text_of(args).*matches)(text));
}

Result<Value> call_strip(PlanState& state, const Bound& args) {
  std::string blanks = " \t\n\r\f\v";
  if (args[1] && !get_if<NoneValue>(*args[1])) {
    PASSNET_TRY(blanks, text_argument(args[1], "chars"));
  }
  const std::string& text = text_of(args);
  PASSNET_TRY_VOID(state.steps.charge(text_steps(text.size() * blanks.size())));
  const size_t first = text.find_first_not_of(blanks);
  if (first == std::string::npos) return Value(std::string());
  return Value(text.substr(first, text.find_last_not_of(blanks) - first + 1));
}

Result<Value> call_split(PlanState& state, const Bound& args) {
  std::string separator;
  if (args[1] && !get_if<NoneValue>(*args[1])) {
    PASSNET_TRY(separator, text_argument(args[1], "sep"));
    if (separator.empty()) return bad_pass("argument 'sep': found '', expected a text to split at");
  }
  int64_t most = -1;
  if (args[2]) {
    PASSNET_TRY(most, int_argument(args[2], "maxsplit"));
  }
  std::string_view rest = text_of(args);
  PASSNET_TRY_VOID(state.steps.charge(rest.size() / 8 + text_steps(rest.size() * separator.size())));
  std::vector<Value> parts;
  const bool at_blanks = separator.empty();
  const auto skip_blanks = [&] {
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  };
  if (at_blanks) skip_blanks();
  while (most < 0 || static_cast<int64_t>(parts.size()) < most) {
    const auto blank = std::ranges::find_if(rest, is_blank);
    const size_t at = !at_blanks            ? rest.find(separator)
                      : blank == rest.end() ? std::string_view::npos
                                            : static_cast<size_t>(blank - rest.begin());
    if (at == std::string_view::npos) break;
    parts.emplace_back(std::string(rest.substr(0, at)));
    rest.remove_prefix(at + (at_blanks ? 1 : separator.size()));
    if (at_blanks) skip_blanks();
  }
  if (!at_blanks || !rest.empty()) parts.emplace_back(std::string(rest));
  PASSNET_TRY_VOID(state.steps.charge(parts.size()));
  return make_sequence(true, std::move(parts));
}

Result<Value> call_replace(PlanState& state, const Bound& args) {
  PASSNET_TRY(const std::string old, text_argument(args[1], "old"));
  PASSNET_TRY(const std::string by, text_argument(args[2], "new"));
  if (old.empty()) return bad_pass("argument 'old': found '', expected a text to replace");
  std::string text;
  std::string_view rest = text_of(args);
  PASSNET_TRY_VOID(state.steps.charge(rest.size() / 8 + text_steps(rest.size() * old.size())));
  for (size_t at = rest.find(old); at != std::string_view::npos; at = rest.find(old)) {
    text.append(rest.substr(0, at)).append(by);
    rest.remove_prefix(at + old.size());
    if (text.size() > kMaxStringBytes) break;
  }
  text.append(rest);
  PASSNET_TRY_VOID(state.steps.charge(text_steps(text.size())));
  PASSNET_TRY_VOID(check_string(text.size()));
  return Value(std::move(text));
}

Result<Value> call_join(PlanState& state, const Bound& args) {
  const Sequence* items = get_sequence(*args[1]);
  if (items == nullptr)
    return bad_pass(fmt::format("argument 'items': found {}, expected a list or tuple", describe(*args[1])));
  std::string text;
  for (size_t i = 0; i < items->items.size(); ++i) {
    PASSNET_TRY_VOID(state.steps.charge(1 + extra_steps(items->items[i]) + extra_steps(*args[0])));
    PASSNET_TRY(const std::string item, text_argument(items->items[i], "items"));
    text.append(i > 0 ? text_of(args) : "").append(item);
    if (text.size() > kMaxStringBytes)
      return bad_pass(fmt::format("string too long: more than {} bytes", kMaxStringBytes));
  }
  return Value(std::move(text));
}

Result<Value> call_is_digit(PlanState& state, const Bound& args) {
  const std::string& text = text_of(args);
  PASSNET_TRY_VOID(state.steps.charge(text.size() / 8));
  return Value(!text.empty() && text.find_first_not_of("0123456789") == std::string::npos);
}

const Dict& dict_of(const Bound& args) { return *get_dict(*args[0]); }

Result<Value> call_get(PlanState& state, const Bound& args) {
  PASSNET_TRY(const Value* found, find_key(dict_of(args), *args[1], state.steps));
  if (found != nullptr) return *found;
  return args[2] ? *args[2] : Value(NoneValue{});
}

template <bool keys, bool values>
Result<Value> call_items(PlanState& state, const Bound& args) {
  std::vector<Value> items;
  for (const auto& [key, value] : dict_of(args).items) {
    PASSNET_TRY_VOID(state.steps.charge(4 + extra_steps(key) + extra_steps(value)));
    if constexpr (keys && values) {
      PASSNET_TRY(Value pair, make_sequence(false, {key, value}));
      items.push_back(std::move(pair));
    } else {
      items.push_back(keys ? key : value);
    }
  }
  return make_sequence(true, std::move(items));
}

Result<Value> call_pop_key(PlanState& state, const Bound& args) {
  Dict& dict = *get_dict(*args[0]);
  PASSNET_TRY(const Value* found, find_key(dict, *args[1], state.steps));
  if (found == nullptr && args[2]) return *args[2];
  if (found == nullptr) return bad_pass(fmt::format("the dict has no key {}", describe(*args[1])));
  return take_key(dict, found, state.steps);
}

Result<Value> call_clear(PlanState&, const Bound& args) {
  get_dict(*args[0])->items.clear();
  return Value(NoneValue{});
}

Result<Value> call_setdefault(PlanState& state, const Bound& args) {
  Dict& dict = *get_dict(*args[0]);
  PASSNET_TRY(const Value* found, find_key(dict, *args[1], state.steps));
  if (found != nullptr) return *found;
  Value value = args[2] ? *args[2] : Value(NoneValue{});
  PASSNET_TRY_VOID(set_key(dict, *args[1], value, state.steps));
  return value;
}

Result<Value> call_update(PlanState& state, const Bound& args) {
  const Dict* more = get_dict(*args[1]);
  if (more == nullptr) return bad_pass(fmt::format("argument 'items': found {}, expected a dict", describe(*args[1])));
  PASSNET_TRY_VOID(state.steps.charge(more->items.size()));
  const auto items = more->items;
  for (const auto& [key, value] : items) PASSNET_TRY_VOID(set_key(*get_dict(*args[0]), key, value, state.steps));
  return Value(NoneValue{});
}

/// The list to change. Errors: BadPass for a tuple.
Result<Sequence*> list_of(const Bound& args, std::string_view method) {
  Sequence* list = get_sequence(*args[0]);
  if (list->is_list) return list;
  return bad_pass(fmt::format("a tuple has no method '{}'", method));
}

Result<Value> call_append(PlanState& state, const Bound& args) {
  PASSNET_TRY(Sequence * list, list_of(args, "append"));
  PASSNET_TRY_VOID(insert_item(*list, list->items.size(), *args[1], state.steps));
  return Value(NoneValue{});
}

Result<Value> call_extend(PlanState& state, const Bound& args) {
  PASSNET_TRY(Sequence * list, list_of(args, "extend"));
  const Sequence* more = get_sequence(*args[1]);
  if (more == nullptr)
    return bad_pass(fmt::format("argument 'items': found {}, expected a list or tuple", describe(*args[1])));
  PASSNET_TRY(const std::vector<Value> items, copy_values(more->items, state.steps));
  for (const Value& item : items) PASSNET_TRY_VOID(insert_item(*list, list->items.size(), item, state.steps));
  return Value(NoneValue{});
}

Result<Value> call_insert(PlanState& state, const Bound& args) {
  PASSNET_TRY(Sequence * list, list_of(args, "insert"));
  PASSNET_TRY(const int64_t index, int_argument(args[1], "index"));
  const auto size = static_cast<int64_t>(list->items.size());
  const int64_t at = std::clamp<int64_t>(index < 0 ? index + size : index, 0, size);
  PASSNET_TRY_VOID(insert_item(*list, static_cast<size_t>(at), *args[2], state.steps));
  return Value(NoneValue{});
}

Result<Value> call_pop(PlanState& state, const Bound& args) {
  PASSNET_TRY(Sequence * list, list_of(args, "pop"));
  int64_t index = -1;
  if (args[1]) {
    PASSNET_TRY(index, int_argument(args[1], "index"));
  }
  const auto size = static_cast<int64_t>(list->items.size());
  if (index < -size || index >= size) return bad_pass(fmt::format("pop of item {} of {}", index, size));
  return take_item(*list, static_cast<size_t>(index < 0 ? index + size : index), state.steps);
}

Result<Value> call_reverse(PlanState& state, const Bound& args) {
  PASSNET_TRY(Sequence * list, list_of(args, "reverse"));
  PASSNET_TRY_VOID(state.steps.charge(list->items.size()));
  std::ranges::reverse(list->items);
  return Value(NoneValue{});
}

Result<Value> call_index(PlanState& state, const Bound& args) {
  const Sequence& sequence = *get_sequence(*args[0]);
  for (size_t i = 0; i < sequence.items.size(); ++i) {
    PASSNET_TRY(const bool same, equals(sequence.items[i], *args[1], state.steps));
    if (same) return Value(static_cast<int64_t>(i));
  }
  return bad_pass(fmt::format("{} is not in the {}", describe(*args[1]), type_name(*args[0])));
}

Result<Value> call_count(PlanState& state, const Bound& args) {
  int64_t count = 0;
  for (const Value& item : get_sequence(*args[0])->items) {
    PASSNET_TRY(const bool same, equals(item, *args[1], state.steps));
    count += same ? 1 : 0;
  }
  return Value(count);
}

/// torch.Size.numel().
Result<Value> call_product(PlanState& state, const Bound& args) {
  Value product{int64_t{1}};
  for (const Value& item : get_sequence(*args[0])->items) {
    PASSNET_TRY_VOID(state.steps.charge(1));
    PASSNET_TRY(product, apply_binary(Operator::Multiply, product, item, state.steps));
  }
  return product;
}

template <bool is_list>
Result<Value> call_copy(PlanState& state, const Bound& args) {
  if constexpr (is_list) {
    PASSNET_TRY(std::vector<Value> items, copy_values(get_sequence(*args[0])->items, state.steps));
    return make_sequence(true, std::move(items));
  } else {
    return make_dict(get_dict(*args[0])->items, state.steps);
  }
}

constexpr Builtin kListMethods[] = {
    {"append", "self, item", call_append},
    {"extend", "self, items", call_extend},
    {"insert", "self, index, item", call_insert},
    {"pop", "self, index?", call_pop},
    {"reverse", "self", call_reverse},
    {"index", "self, item", call_index},
    {"count", "self, item", call_count},
    {"numel", "self", call_product},
    {"copy", "self", call_copy<true>},
};

constexpr Builtin kDictMethods[] = {
    {"pop", "self, key, default?", call_pop_key}, {"clear", "self", call_clear},
    {"copy", "self", call_copy<false>},           {"setdefault", "self, key, default?", call_setdefault},
    {"update", "self, items", call_update},       {"get", "self, key, default?", call_get},
    {"keys", "self", call_items<true, false>},    {"values", "self", call_items<false, true>},
    {"items", "self", call_items<true, true>},
};

constexpr Builtin kStringMethods[] = {
    {"split", "self, sep?, maxsplit?", call_split},
    {"startswith", "self, prefix", call_matches<&std::string::starts_with>},
    {"endswith", "self, suffix", call_matches<&std::string::ends_with>},
    {"strip", "self, chars?", call_strip},
    {"lower", "self", call_change<std::tolower>},
    {"upper", "self", call_change<std::toupper>},
    {"replace", "self, old, new", call_replace},
    {"join", "self, items", call_join},
    {"isdigit", "self", call_is_digit},
};

}  // namespace

std::span<const Builtin> string_methods() { return kStringMethods; }
std::span<const Builtin> list_methods() { return kListMethods; }
std::span<const Builtin> dict_methods() { return kDictMethods; }

}  // namespace passnet::pass
