// Methods of strings and dicts in a plan.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "pass/plan/builtins.h"

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
Result<Value> call_change(PlanState&, const Bound& args) {
  std::string text = text_of(args);
  // Only letters of ASCII: names of passes, dtypes and routes are made of them.
  std::ranges::transform(text, text.begin(), [](char c) {
    return static_cast<unsigned char>(c) < 0x80 ? static_cast<char>(change(static_cast<unsigned char>(c))) : c;
  });
  return Value(std::move(text));
}

template <bool (std::string::*matches)(std::string_view) const noexcept>
Result<Value> call_matches(PlanState&, const Bound& args) {
  if (const Sequence* several = get_sequence(*args[1])) {
    for (const Value& one : several->items) {
      PASSNET_TRY(const std::string text, text_argument(one, "text"));
      if ((text_of(args).*matches)(text)) return Value(true);
    }
    return Value(false);
  }
  PASSNET_TRY(const std::string text, text_argument(args[1], "text"));
  return Value((text_of(args).*matches)(text));
}

Result<Value> call_strip(PlanState&, const Bound& args) {
  std::string blanks = " \t\n\r\f\v";
  if (args[1] && !get_if<NoneValue>(*args[1])) {
    PASSNET_TRY(blanks, text_argument(args[1], "chars"));
  }
  const std::string& text = text_of(args);
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
  PASSNET_TRY_VOID(charge(state, parts.size()));
  return make_sequence(true, std::move(parts));
}

Result<Value> call_replace(PlanState& state, const Bound& args) {
  PASSNET_TRY(const std::string old, text_argument(args[1], "old"));
  PASSNET_TRY(const std::string by, text_argument(args[2], "new"));
  if (old.empty()) return bad_pass("argument 'old': found '', expected a text to replace");
  std::string text;
  std::string_view rest = text_of(args);
  for (size_t at = rest.find(old); at != std::string_view::npos; at = rest.find(old)) {
    text.append(rest.substr(0, at)).append(by);
    rest.remove_prefix(at + old.size());
    if (text.size() > kMaxStringBytes) break;
  }
  text.append(rest);
  PASSNET_TRY_VOID(charge(state, text.size() / 8));
  PASSNET_TRY_VOID(check_string(text.size()));
  return Value(std::move(text));
}

Result<Value> call_join(PlanState&, const Bound& args) {
  const Sequence* items = get_sequence(*args[1]);
  if (items == nullptr)
    return bad_pass(fmt::format("argument 'items': found {}, expected a list or tuple", describe(*args[1])));
  std::string text;
  for (size_t i = 0; i < items->items.size(); ++i) {
    PASSNET_TRY(const std::string item, text_argument(items->items[i], "items"));
    text.append(i > 0 ? text_of(args) : "").append(item);
    if (text.size() > kMaxStringBytes)
      return bad_pass(fmt::format("string too long: more than {} bytes", kMaxStringBytes));
  }
  return Value(std::move(text));
}

Result<Value> call_is_digit(PlanState&, const Bound& args) {
  const std::string& text = text_of(args);
  return Value(!text.empty() && text.find_first_not_of("0123456789") == std::string::npos);
}

const Dict& dict_of(const Bound& args) { return *get_dict(*args[0]); }

Result<Value> call_get(PlanState& state, const Bound& args) {
  PASSNET_TRY_VOID(charge(state, dict_of(args).items.size()));
  PASSNET_TRY(const Value* found, find_key(dict_of(args), *args[1]));
  if (found != nullptr) return *found;
  return args[2] ? *args[2] : Value(NoneValue{});
}

template <bool keys, bool values>
Result<Value> call_items(PlanState& state, const Bound& args) {
  PASSNET_TRY_VOID(charge(state, dict_of(args).items.size()));
  std::vector<Value> items;
  for (const auto& [key, value] : dict_of(args).items) {
    if constexpr (keys && values) {
      PASSNET_TRY(Value pair, make_sequence(false, {key, value}));
      items.push_back(std::move(pair));
    } else {
      items.push_back(keys ? key : value);
    }
  }
  return make_sequence(true, std::move(items));
}

constexpr Builtin kDictMethods[] = {
    {"get", "self, key, default?", call_get},
    {"keys", "self", call_items<true, false>},
    {"values", "self", call_items<false, true>},
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
std::span<const Builtin> dict_methods() { return kDictMethods; }

}  // namespace passnet::pass
