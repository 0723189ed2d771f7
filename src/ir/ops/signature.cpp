#include "ir/ops/signature.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/check.h"
#include "base/text/strings.h"

namespace passnet::ir {

namespace {

template <class Number>
Number parse_number(std::string_view text) {
  Number value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value).ptr;
  PASSNET_CHECK(end == text.data() + text.size(), "signature: bad literal " + quoted(text));
  return value;
}

/// The value whose word it is: words in the order of the enumeration.
template <class Value, size_t N>
Value parse_word(const std::string_view (&words)[N], std::string_view word) {
  const auto* found = std::ranges::find(words, word);
  PASSNET_CHECK(found != std::end(words), "signature: unknown word " + quoted(word));
  return static_cast<Value>(found - std::begin(words));
}

void set_kind(Slot& slot, std::string_view kind) {
  static constexpr std::string_view kFits[] = {"", "tensor", "int", "dtype", "device", "none"};
  if (kind == "f") {
    slot.kind = ParameterKind::Float;
  } else if (kind == "x") {
    slot.kind = ParameterKind::Index;
  } else if (kind == "il" || kind == "i1" || kind == "i2" || kind == "i3") {
    slot.kind = ParameterKind::Ints;
    slot.length = kind == "il" ? uint8_t{0} : static_cast<uint8_t>(kind[1] - '0');
  } else {
    slot.fit = parse_word<Fit>(kFits, kind);
  }
}

Role parse_role(std::string_view word) {
  static constexpr std::string_view kRoles[] = {"view",  "expand", "repeat", "create",  "range",   "slice",
                                                "split", "number", "bound",  "strides", "padding", "window",
                                                "step",  "mask",   "table",  "batch"};
  return parse_word<Role>(kRoles, word);
}

/// Takes what follows `mark` off the end of `text`; empty when there is none.
std::string_view take_behind(std::string_view& text, char mark) {
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view behind = text.substr(at + 1);
  text = text.substr(0, at);
  return behind;
}

Slot parse_slot(std::string_view text, bool keyword_only) {
  Slot slot;
  slot.variadic = text.starts_with('*');
  slot.fixed = text.starts_with('!');
  slot.keyword_only = keyword_only;
  if (text.starts_with('~')) slot.canonical = Slot::kIgnored;
  if (text.find_first_of("*~!") == 0) text.remove_prefix(1);
  slot.default_text = take_behind(text, '=');
  if (!slot.default_text.empty()) {
    slot.value = parse_literal(slot.default_text);
    slot.required = false;
  }
  if (const auto role = take_behind(text, '%'); !role.empty()) slot.role = parse_role(role);
  if (const auto kind = take_behind(text, ':'); !kind.empty()) set_kind(slot, kind);
  if (slot.value.value.kind == ArgKind::Float) slot.kind = ParameterKind::Float;
  if (text.ends_with('?')) {
    text.remove_suffix(1);
    slot.required = false;
  }
  slot.call_name = take_behind(text, '@');
  slot.name = text;
  if (slot.call_name.empty()) slot.call_name = text;
  return slot;
}

size_t find_slot(std::span<const Slot> signature, std::string_view keyword) {
  const auto found =
      std::ranges::find_if(signature, [&](const Slot& slot) { return slot.call_name == keyword && !slot.fixed; });
  return static_cast<size_t>(found - signature.begin());
}

}  // namespace

std::vector<std::string_view> split_arguments(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      if (const auto part = trim(text.substr(start, i - start)); !part.empty()) parts.push_back(part);
      start = i + 1;
    }
  }
  return parts;
}

Literal parse_literal(std::string_view text) {
  Literal literal;
  if (text == "None") return literal;
  if (text == "True" || text == "False") {
    literal.value = Arg::of_bool(text == "True");
  } else if (text.starts_with('\'')) {
    literal.value = Arg::of_text(ArgKind::String, text.substr(1, text.size() - 2));
  } else if (text.starts_with('(')) {
    for (const auto part : split_arguments(text.substr(1, text.size() - 2)))
      literal.elements.push_back(parse_literal(part).value);
    literal.value = Arg::of_elements(ArgKind::Tuple, 0, static_cast<uint32_t>(literal.elements.size()));
  } else if (const auto dtype = text.starts_with("torch.") ? parse_dtype(text) : std::nullopt) {
    literal.value = Arg::of_dtype(*dtype);
  } else if (text.starts_with("torch.")) {
    literal.value = Arg::of_text(ArgKind::Constant, text);
  } else if (text.find_first_of(".e") == std::string_view::npos) {
    literal.value = Arg::of_int(parse_number<int64_t>(text));
  } else {
    literal.value = Arg::of_float(parse_number<double>(text));
  }
  return literal;
}

std::vector<Slot> parse_signature(std::string_view text) {
  std::vector<Slot> slots;
  bool keyword_only = false;
  for (const auto part : split_arguments(text)) {
    if (part != "*") slots.push_back(parse_slot(part, keyword_only));
    keyword_only |= part.starts_with('*');
  }
  return slots;
}

std::string_view other_keyword(std::string_view keyword) {
  static constexpr std::pair<std::string_view, std::string_view> kOthers[] = {{"self", "input"},
                                                                              {"axis", "dim"},
                                                                              {"keepdims", "keepdim"},
                                                                              {"x", "input"},
                                                                              {"a", "input"},
                                                                              {"x1", "input"},
                                                                              {"x2", "other"},
                                                                              {"axis0", "dim0"},
                                                                              {"axis1", "dim1"},
                                                                              {"split_size_or_sections", "split_size"},
                                                                              {"indices_or_sections", "sections"}};
  for (const auto& [from, to] : kOthers) {
    if (keyword == from) return to;
  }
  return {};
}

Assignment bind_arguments(std::span<const Slot> signature, size_t positional,
                          std::span<const std::string_view> keywords, std::string_view (*alias)(std::string_view)) {
  Assignment made;
  std::vector<bool> given(signature.size());
  const auto fail = [&](Misfit::Reason reason, size_t place) {
    made.misfit = {reason, place};
    return std::move(made);
  };
  const auto give = [&](size_t slot) {
    given[slot] = true;
    made.slots.push_back(static_cast<uint16_t>(slot));
  };
  made.slots.reserve(positional + keywords.size());
  size_t next = 0;
  for (size_t i = 0; i < positional; ++i) {
    while (next < signature.size() && signature[next].fixed) ++next;
    if (next == signature.size() || signature[next].keyword_only) return fail(Misfit::Reason::TooMany, i);
    give(next);
    if (!signature[next].variadic) ++next;
  }
  for (size_t i = 0; i < keywords.size(); ++i) {
    size_t slot = find_slot(signature, keywords[i]);
    if (slot == signature.size() && alias != nullptr) slot = find_slot(signature, alias(keywords[i]));
    if (slot == signature.size()) return fail(Misfit::Reason::Unknown, i);
    if (given[slot]) return fail(Misfit::Reason::Twice, slot);
    give(slot);
  }
  for (size_t i = 0; i < signature.size(); ++i) {
    if (!given[i] && signature[i].required && !signature[i].variadic) return fail(Misfit::Reason::Missing, i);
  }
  return made;
}

}  // namespace passnet::ir
