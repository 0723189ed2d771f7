#include "pass/plan/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <compare>

#include "base/json/python_number.h"
#include "base/text/strings.h"
#include "pass/plan/library_call.h"

namespace passnet::pass {

namespace {

constexpr std::array kSpelling{"+",  "-", "*",  "/", "//", "%",  "**",     "@",  "<<",     ">>", "&", "^",   "|", "==",
                               "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in", "-",  "+", "not", "~"};

bool is_bitwise(Operator op) { return op >= Operator::ShiftLeft && op <= Operator::BitOr; }

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;  // clang 14 does not deduce it

Error type_error(Operator op, const Value& a, const Value& b) {
  return bad_pass(fmt::format("operator '{}' does not take {} and {}", spelling(op), describe(a), describe(b)));
}

/// The number, or why there is none.
template <class Number, class Computed>
Result<Value> value_of(const Computed& result, Number a, Operator op, Number b) {
  if (!result) return bad_pass(python::why_nothing(a, spelling(op), b));
  return Value(*result);
}

Result<Value> float_arithmetic(Operator op, double a, double b) {
  switch (op) {
    case Operator::Add: return Value(a + b);
    case Operator::Subtract: return Value(a - b);
    case Operator::Multiply: return Value(a * b);
    case Operator::Divide: return value_of(python::divide(a, b), a, op, b);
    case Operator::Power: return value_of(python::power(a, b), a, op, b);
    case Operator::Modulo: return value_of(python::modulo(a, b), a, op, b);
    default: return value_of(python::floor_divide(a, b), a, op, b);
  }
}

Result<Value> int_arithmetic(Operator op, int64_t a, int64_t b) {
  switch (op) {
    case Operator::Add: return value_of(python::add(a, b), a, op, b);
    case Operator::Subtract: return value_of(python::subtract(a, b), a, op, b);
    case Operator::Multiply: return value_of(python::multiply(a, b), a, op, b);
    case Operator::Divide: return value_of(python::divide(a, b), a, op, b);
    case Operator::Power:
      if (b < 0 && a != 0) return float_arithmetic(op, static_cast<double>(a), static_cast<double>(b));
      return value_of(python::power(a, b), a, op, b);
    case Operator::Modulo: return value_of(python::modulo(a, b), a, op, b);
    case Operator::ShiftLeft: return value_of(python::shift_left(a, b), a, op, b);
    case Operator::ShiftRight: return value_of(python::shift_right(a, b), a, op, b);
    case Operator::BitAnd: return Value(a & b);
    case Operator::BitXor: return Value(a ^ b);
    case Operator::BitOr: return Value(a | b);
    default: return value_of(python::floor_divide(a, b), a, op, b);
  }
}

/// A number without loss: long double holds 64-bit integers.
std::optional<long double> as_exact(const Value& value) {
  if (const auto integer = as_int(value)) return static_cast<long double>(*integer);
  if (const auto* real = get_if<double>(value)) return static_cast<long double>(*real);
  return std::nullopt;
}

/// Steps of a copy of each.
size_t copy_steps(std::span<const Value> values) {
  size_t steps = values.size();
  for (const Value& value : values) steps += extra_steps(value);
  return steps;
}

Result<Value> repeat(const Sequence& sequence, int64_t times, Budget& steps) {
  std::vector<Value> items;
  const auto count = python::multiply(static_cast<int64_t>(sequence.items.size()), std::max<int64_t>(times, 0));
  if (!count || *count > static_cast<int64_t>(kMaxSequenceItems)) {
    return bad_pass(fmt::format("sequence too long: {} items repeated {} times, expected at most {}",
                                sequence.items.size(), times, kMaxSequenceItems));
  }
  const int64_t copies = *count > 0 ? times : 0;
  if (copies > 0) PASSNET_TRY_VOID(steps.charge(static_cast<size_t>(copies) * copy_steps(sequence.items)));
  for (int64_t i = 0; i < copies; ++i) {
    items.insert(items.end(), sequence.items.begin(), sequence.items.end());
  }
  return make_sequence(sequence.is_list, std::move(items));
}

Result<Value> concatenate(const Sequence& a, const Sequence& b, Budget& steps) {
  PASSNET_TRY_VOID(steps.charge(copy_steps(b.items)));
  PASSNET_TRY(std::vector<Value> items, copy_values(a.items, steps));
  items.insert(items.end(), b.items.begin(), b.items.end());
  return make_sequence(a.is_list, std::move(items));
}

/// What the operator does not take, which PyTorch would compute where one operand is a tensor.
Error of_tensors_alone(Operator op, const Value& a, const Value& b) {
  Error error = type_error(op, a, b);
  if (get_if<View>(a) || get_if<View>(b)) {
    error.hint = kLibraryHint;
    error.failure = "library-call";
  }
  return error;
}

/// fmod() subtracts bit by bit: up to 2,000 times for numbers that are far apart.
constexpr size_t kDivisionSteps = 32;

Result<Value> arithmetic(Operator op, const Value& a, const Value& b, Budget& steps) {
  if (op == Operator::MatrixMultiply) return of_tensors_alone(op, a, b);
  const auto x = as_int(a), y = as_int(b);
  const bool of_bools = get_if<bool>(a) && get_if<bool>(b) && op >= Operator::BitAnd && op <= Operator::BitOr;
  if (of_bools) {
    PASSNET_TRY(const Value bit, int_arithmetic(op, *x, *y));
    return Value(std::get<int64_t>(bit) != 0);
  }
  if (x && y) return int_arithmetic(op, *x, *y);
  const auto p = as_float(a), q = as_float(b);
  if (p && q && !is_bitwise(op)) {
    if (op == Operator::Modulo || op == Operator::FloorDivide) PASSNET_TRY_VOID(steps.charge(kDivisionSteps));
    return float_arithmetic(op, *p, *q);
  }
  const Sequence *s = get_sequence(a), *t = get_sequence(b);
  if (op == Operator::Add && s && t && s->is_list == t->is_list) return concatenate(*s, *t, steps);
  if (op == Operator::Multiply && s && y) return repeat(*s, *y, steps);
  if (op == Operator::Multiply && x && t) return repeat(*t, *x, steps);
  const auto *left = get_if<std::string>(a), *right = get_if<std::string>(b);
  if (op == Operator::Add && left && right) {
    PASSNET_TRY_VOID(check_string(left->size() + right->size()));
    PASSNET_TRY_VOID(steps.charge(text_steps(left->size() + right->size())));
    return Value(*left + *right);
  }
  return of_tensors_alone(op, a, b);
}

Error too_deep() {
  return bad_pass(fmt::format("sequences nested too deep: expected at most {} levels", kMaxSequenceDepth));
}

/// One comparison: containers that changed since they were put into others are heavier and deeper than those say.
struct Walk {
  Budget& steps;
  size_t depth = 0;

  /// One level for the lifetime of the object.
  struct Down {
    explicit Down(Walk& all) : walk(all) { ++walk.depth; }
    ~Down() { --walk.depth; }
    Walk& walk;
  };
  Result<void> visit() {
    PASSNET_TRY_VOID(steps.charge(1));
    if (depth > kMaxSequenceDepth) return too_deep();
    return {};
  }
};

Result<bool> equals(const Value& a, const Value& b, Walk& walk);

/// <0, 0, >0, or unordered for NaN.
Result<std::partial_ordering> order(Operator op, const Value& a, const Value& b, Walk& walk) {
  const Walk::Down down(walk);
  PASSNET_TRY_VOID(walk.visit());
  const auto p = as_exact(a), q = as_exact(b);
  if (p && q) return *p <=> *q;
  const auto *left = get_if<std::string>(a), *right = get_if<std::string>(b);
  if (left && right) {
    PASSNET_TRY_VOID(walk.steps.charge(text_steps(std::min(left->size(), right->size()))));
    return std::partial_ordering(*left <=> *right);
  }
  const Sequence *s = get_sequence(a), *t = get_sequence(b);
  if (!s || !t || s->is_list != t->is_list) return type_error(op, a, b);
  for (size_t i = 0; i < std::min(s->items.size(), t->items.size()); ++i) {
    PASSNET_TRY(const bool same, equals(s->items[i], t->items[i], walk));
    if (!same) return order(op, s->items[i], t->items[i], walk);
  }
  return std::partial_ordering(s->items.size() <=> t->items.size());
}

Result<bool> contains(const Value& item, const Value& container, Walk& walk) {
  if (const Dict* dict = get_dict(container)) {
    PASSNET_TRY(const Value* found, find_key(*dict, item, walk.steps));
    return found != nullptr;
  }
  const Sequence* sequence = get_sequence(container);
  const auto *part = get_if<std::string>(item), *whole = get_if<std::string>(container);
  if (part && whole) {
    PASSNET_TRY_VOID(walk.steps.charge(text_steps(whole->size() * part->size())));
    return whole->find(*part) != std::string::npos;
  }
  if (!sequence) return type_error(Operator::In, item, container);
  for (const Value& candidate : sequence->items) {
    PASSNET_TRY(const bool same, equals(candidate, item, walk));
    if (same) return true;
  }
  return false;
}

Result<bool> is_same(const Value& a, const Value& b, Walk& walk) {
  const Sequence *s = get_sequence(a), *t = get_sequence(b);
  const Dict *d = get_dict(a), *e = get_dict(b);
  if ((s && s->is_list && t && t->is_list) || (d && e)) return s == t && d == e;
  const auto *x = get_if<View>(a), *y = get_if<View>(b);
  if (x && y) {
    PASSNET_TRY_VOID(walk.steps.charge(extra_steps(a)));
    return *x == *y;
  }
  const auto identity = [](const Value& value) {
    return get_if<NoneValue>(value) || get_if<NotImplementedValue>(value) || get_if<bool>(value) ||
           get_if<ir::DType>(value) || get_if<TypeValue>(value) || get_if<BuiltinValue>(value) ||
           get_if<FunctionValue>(value);
  };
  if (!identity(a) && !identity(b)) {
    return bad_pass(fmt::format("operator 'is' compares with None, True, False or a dtype, found {} and {}",
                                describe(a), describe(b)))
        .with_hint("compare values with '=='");
  }
  if (a.index() != b.index()) return false;
  return equals(a, b, walk);
}

Result<bool> compare(Operator op, const Value& a, const Value& b, Walk& walk) {
  switch (op) {
    case Operator::Equal: return equals(a, b, walk);
    case Operator::Is: return is_same(a, b, walk);
    case Operator::In: return contains(a, b, walk);
    case Operator::NotEqual:
    case Operator::IsNot:
    case Operator::NotIn: {
      const Operator opposite = op == Operator::NotEqual ? Operator::Equal
                                : op == Operator::IsNot  ? Operator::Is
                                                         : Operator::In;
      PASSNET_TRY(const bool result, compare(opposite, a, b, walk));
      return !result;
    }
    default: break;
  }
  PASSNET_TRY(const std::partial_ordering ordering, order(op, a, b, walk));
  switch (op) {
    case Operator::Less: return ordering < 0;
    case Operator::LessEqual: return ordering <= 0;
    case Operator::Greater: return ordering > 0;
    default: return ordering >= 0;
  }
}

}  // namespace

Result<void> check_string(size_t bytes) {
  if (bytes <= kMaxStringBytes) return {};
  return bad_pass(fmt::format("string too long: {} bytes, expected at most {}", bytes, kMaxStringBytes));
}

const char* spelling(Operator op) { return kSpelling[static_cast<size_t>(op)]; }

std::optional<Operator> find_operator(std::string_view spelling) {
  const auto end = kSpelling.begin() + static_cast<ptrdiff_t>(Operator::Negative);
  const auto found = std::find(kSpelling.begin(), end, spelling);
  if (found == end) return std::nullopt;
  return static_cast<Operator>(found - kSpelling.begin());
}

Sequence* get_sequence(const Value& value) {
  const auto* pointer = get_if<std::shared_ptr<Sequence>>(value);
  return pointer ? pointer->get() : nullptr;
}

Dict* get_dict(const Value& value) {
  const auto* pointer = get_if<std::shared_ptr<Dict>>(value);
  return pointer ? pointer->get() : nullptr;
}

std::string type_name(const Value& value) {
  return std::visit(Overloaded{[](NoneValue) { return "None"; },
                               [](NotImplementedValue) { return "NotImplemented"; },
                               [](EllipsisValue) { return "Ellipsis"; },
                               [](bool) { return "bool"; },
                               [](int64_t) { return "int"; },
                               [](double) { return "float"; },
                               [](const std::string&) { return "string"; },
                               [](ir::DType) { return "dtype"; },
                               [](DeviceValue) { return "device"; },
                               [](const View&) { return "tensor"; },
                               [](const std::shared_ptr<Sequence>& s) { return s->is_list ? "list" : "tuple"; },
                               [](const std::shared_ptr<Dict>&) { return "dict"; },
                               [](const SliceValue&) { return "slice"; },
                               [](const FunctionValue&) { return "function"; },
                               [](const BuiltinValue&) { return "function"; },
                               [](const std::shared_ptr<const KernelObject>&) { return "kernel"; },
                               [](const std::shared_ptr<const Launcher>&) { return "launcher"; },
                               [](const std::shared_ptr<const Configuration>&) { return "configuration"; },
                               [](const ModuleValue&) { return "module"; },
                               [](const TypeValue&) { return "type"; },
                               [](const AddressValue&) { return "address"; },
                               [](const ExceptionValue&) { return "exception"; },
                               [](FloatInfoValue) { return "finfo"; }},
                    value);
}

std::string describe(const Value& value) {
  const std::string type = type_name(value);
  return std::visit(
      Overloaded{[&](bool flag) { return fmt::format("bool {}", flag ? "True" : "False"); },
                 [&](int64_t number) { return fmt::format("int {}", number); },
                 [&](double number) { return fmt::format("float {}", number); },
                 [&](const std::string& text) { return "string " + quoted(text); },
                 [&](ir::DType dtype) { return fmt::format("dtype torch.{}", ir::name(dtype)); },
                 [&](const View& view) { return "tensor " + ir::to_string(view.type); },
                 [&](const std::shared_ptr<Sequence>& s) {
                   return fmt::format("{} of {} item{}", type, s->items.size(), s->items.size() == 1 ? "" : "s");
                 },
                 [&](const std::shared_ptr<Dict>& d) {
                   return fmt::format("dict of {} item{}", d->items.size(), d->items.size() == 1 ? "" : "s");
                 },
                 [&](const ModuleValue& module) { return "module " + quoted(module.name); },
                 [&](const TypeValue& of) { return "type " + quoted(of.name); },
                 [&](const ExceptionValue& raised) { return raised.type + ": " + raised.text; },
                 [&](const auto&) { return type; }},
      value);
}

namespace {

/// Adds what an item of a sequence or dict weighs, and how deep it is.
void add_item(const Value& item, size_t& weight, size_t& depth) {
  ++weight;
  if (const Sequence* sequence = get_sequence(item)) {
    weight += sequence->weight;
    depth = std::max(depth, sequence->depth + 1);
  } else if (const Dict* dict = get_dict(item)) {
    weight += dict->weight;
    depth = std::max(depth, dict->depth + 1);
  }
}

Result<void> check_extent(size_t weight, size_t depth) {
  if (weight > kMaxSequenceItems)
    return bad_pass(fmt::format("sequence too long: more than {} items, nested ones included", kMaxSequenceItems));
  if (depth > kMaxSequenceDepth)
    return bad_pass(
        fmt::format("sequences nested too deep: found {} levels, expected at most {}", depth, kMaxSequenceDepth));
  return {};
}

/// As Python's repr(): 1.0, 1e-05, inf.
std::string real_text(double number) {
  std::string text = fmt::format("{}", number);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

Result<std::string> sequence_text(const Sequence& sequence, Walk& walk) {
  const Walk::Down down(walk);
  std::string text(1, sequence.is_list ? '[' : '(');
  for (size_t i = 0; i < sequence.items.size(); ++i) {
    PASSNET_TRY_VOID(walk.visit());
    const auto* inner = get_if<std::string>(sequence.items[i]);
    const Sequence* nested = get_sequence(sequence.items[i]);
    PASSNET_TRY(const std::string item, nested ? sequence_text(*nested, walk) : to_text(sequence.items[i], walk.steps));
    text += (i > 0 ? ", " : "") + (inner ? "'" + item + "'" : item);
    if (text.size() > kMaxStringBytes)
      return bad_pass(fmt::format("string too long: a text of more than {} bytes", kMaxStringBytes));
  }
  if (!sequence.is_list && sequence.items.size() == 1) text += ',';
  PASSNET_TRY_VOID(walk.steps.charge(text_steps(text.size())));
  return text + (sequence.is_list ? ']' : ')');
}

/// Bytes of texts and shapes that a copy has of its own.
size_t own_bytes(const Value& value) {
  if (const auto* text = get_if<std::string>(value)) return text->size();
  if (const auto* view = get_if<View>(value)) return view->type.shape.size() * 2 * sizeof(int64_t);
  if (const auto* module = get_if<ModuleValue>(value)) return module->name.size();
  if (const auto* raised = get_if<ExceptionValue>(value)) return raised->type.size() + raised->text.size();
  return 0;
}

}  // namespace

size_t extra_steps(const Value& value) { return text_steps(own_bytes(value)); }

Result<std::vector<Value>> copy_values(std::span<const Value> values, Budget& steps) {
  PASSNET_TRY_VOID(steps.charge(copy_steps(values)));
  return std::vector<Value>(values.begin(), values.end());
}

Result<std::vector<Value>> keys_of(const Dict& dict, Budget& steps) {
  std::vector<Value> keys;
  for (const auto& [key, value] : dict.items) {
    PASSNET_TRY_VOID(steps.charge(1 + extra_steps(key)));
    keys.push_back(key);
  }
  return keys;
}

Result<std::string> to_text(const Value& value, Budget& steps) {
  using Text = Result<std::string>;
  PASSNET_TRY_VOID(steps.charge(1 + extra_steps(value)));
  return std::visit(
      Overloaded{
          [](NoneValue) { return Text("None"); }, [](bool flag) { return Text(flag ? "True" : "False"); },
          [](int64_t number) { return Text(std::to_string(number)); },
          [](double number) { return Text(real_text(number)); }, [](const std::string& text) { return Text(text); },
          [](ir::DType dtype) { return Text(fmt::format("torch.{}", ir::name(dtype))); },
          [&](const std::shared_ptr<Sequence>& sequence) {
            Walk walk{steps};
            return sequence_text(*sequence, walk);
          },
          [](DeviceValue) { return Text("cuda"); }, [](const ExceptionValue& raised) { return Text(raised.text); },
          [&](const auto&) { return Text(bad_pass(fmt::format("no text stands for {}", describe(value)))); }},
      value);
}

Result<Value> make_sequence(bool is_list, std::vector<Value> items) {
  auto sequence = std::make_shared<Sequence>();
  sequence->is_list = is_list;
  for (const Value& item : items) {
    add_item(item, sequence->weight, sequence->depth);
    if (sequence->weight > kMaxSequenceItems) break;
  }
  PASSNET_TRY_VOID(check_extent(sequence->weight, sequence->depth));
  sequence->items = std::move(items);
  return Value(std::move(sequence));
}

namespace {
/// Tells whether a dict can have it as a key.
Result<bool> has_hash(const Value& key, Walk& walk) {
  PASSNET_TRY_VOID(walk.visit());
  const Walk::Down down(walk);
  const Sequence* sequence = get_sequence(key);
  if (sequence == nullptr)
    return as_float(key) || get_if<std::string>(key) || get_if<ir::DType>(key) || get_if<NoneValue>(key) ||
           get_if<DeviceValue>(key) || get_if<AddressValue>(key) || get_if<TypeValue>(key) ||
           get_if<BuiltinValue>(key) || get_if<FunctionValue>(key);
  if (sequence->is_list) return false;
  for (const Value& item : sequence->items) {
    PASSNET_TRY(const bool has, has_hash(item, walk));
    if (!has) return false;
  }
  return true;
}

/// Where `key` stands; how many items there are when it does not.
Result<size_t> index_of(const Dict& dict, const Value& key, Budget& steps) {
  Walk walk{steps};
  PASSNET_TRY(const bool may_be_key, has_hash(key, walk));
  if (!may_be_key)
    return bad_pass(
        fmt::format("key of a dict: found {}, expected a number, string, dtype, None or tuple", describe(key)));
  for (size_t i = 0; i < dict.items.size(); ++i) {
    PASSNET_TRY(const bool same, equals(dict.items[i].first, key, walk));
    if (same) return i;
  }
  return dict.items.size();
}
}  // namespace

Result<Value> make_dict(const std::vector<std::pair<Value, Value>>& items, Budget& steps) {
  auto dict = std::make_shared<Dict>();
  for (const auto& [key, value] : items) PASSNET_TRY_VOID(set_key(*dict, key, value, steps));
  return Value(std::move(dict));
}

namespace {
/// Whether `container` is somewhere in `value`.
Result<bool> holds(const Value& value, const void* container, Walk& walk) {
  PASSNET_TRY_VOID(walk.visit());
  const Walk::Down down(walk);
  const Sequence* sequence = get_sequence(value);
  const Dict* dict = get_dict(value);
  if (sequence == container || (dict != nullptr && dict == container)) return true;
  if (sequence != nullptr) {
    for (const Value& item : sequence->items) {
      PASSNET_TRY(const bool found, holds(item, container, walk));
      if (found) return true;
    }
  }
  if (dict != nullptr) {
    for (const auto& [key, item] : dict->items) {
      PASSNET_TRY(const bool found, holds(item, container, walk));
      if (found) return true;
    }
  }
  return false;
}

/// What a container is like with one item more, or why it cannot have it.
template <class Container>
Result<void> take_in(Container& container, const Value& item, Budget& steps) {
  PASSNET_TRY_VOID(steps.charge(1 + extra_steps(item)));
  if (get_sequence(item) || get_dict(item)) {
    Walk walk{steps};
    PASSNET_TRY(const bool itself, holds(item, &container, walk));
    if (itself) return bad_pass("a list or dict cannot hold itself");
  }
  size_t weight = container.weight, depth = container.depth;
  add_item(item, weight, depth);
  PASSNET_TRY_VOID(check_extent(weight, depth));
  container.weight = weight;
  container.depth = depth;
  return {};
}
}  // namespace

Result<void> set_key(Dict& dict, const Value& key, Value value, Budget& steps) {
  PASSNET_TRY(const size_t at, index_of(dict, key, steps));
  if (at == kMaxDictItems) return bad_pass(fmt::format("dict too large: more than {} items", kMaxDictItems));
  PASSNET_TRY_VOID(take_in(dict, value, steps));
  if (at == dict.items.size()) {
    PASSNET_TRY_VOID(take_in(dict, key, steps));
    dict.items.emplace_back(key, Value());
  }
  dict.items[at].second = std::move(value);
  return {};
}

Result<void> insert_item(Sequence& list, size_t at, Value value, Budget& steps) {
  PASSNET_TRY_VOID(steps.charge(list.items.size() - at));  // that move
  PASSNET_TRY_VOID(take_in(list, value, steps));
  list.items.insert(list.items.begin() + static_cast<ptrdiff_t>(at), std::move(value));
  return {};
}

Result<void> set_item(Sequence& list, size_t at, Value value, Budget& steps) {
  PASSNET_TRY_VOID(take_in(list, value, steps));
  list.items[at] = std::move(value);
  --list.weight;
  return {};
}

Result<Value> take_item(Sequence& list, size_t at, Budget& steps) {
  PASSNET_TRY_VOID(steps.charge(list.items.size() - at));
  const auto item = list.items.begin() + static_cast<ptrdiff_t>(at);
  Value value = std::move(*item);
  list.items.erase(item);
  --list.weight;
  return value;
}

Result<Value> take_key(Dict& dict, const Value* item, Budget& steps) {
  PASSNET_TRY_VOID(steps.charge(dict.items.size()));
  const auto at = std::ranges::find_if(dict.items, [&](const auto& one) { return &one.second == item; });
  Value value = std::move(at->second);
  dict.items.erase(at);
  dict.weight -= 2;
  return value;
}

Result<const Value*> find_key(const Dict& dict, const Value& key, Budget& steps) {
  PASSNET_TRY(const size_t at, index_of(dict, key, steps));
  return at == dict.items.size() ? nullptr : &dict.items[at].second;
}

Value make_shape(const std::vector<int64_t>& sizes) {
  auto sequence = std::make_shared<Sequence>();
  sequence->items.assign(sizes.begin(), sizes.end());
  sequence->weight = sizes.size();
  return Value(std::move(sequence));
}

std::optional<int64_t> as_int(const Value& value) {
  if (const auto* number = get_if<int64_t>(value)) return *number;
  if (const auto* flag = get_if<bool>(value)) return *flag ? 1 : 0;
  return std::nullopt;
}

std::optional<double> as_float(const Value& value) {
  if (const auto* number = get_if<double>(value)) return *number;
  if (const auto number = as_int(value)) return static_cast<double>(*number);
  return std::nullopt;
}

Result<bool> truth(const Value& value) {
  if (const auto number = as_float(value)) return *number != 0;
  if (const Sequence* sequence = get_sequence(value)) return !sequence->items.empty();
  if (const Dict* dict = get_dict(value)) return !dict->items.empty();
  if (const auto* text = get_if<std::string>(value)) return !text->empty();
  if (get_if<NoneValue>(value)) return false;
  if (get_if<ir::DType>(value)) return true;
  Error error = bad_pass(fmt::format("{} has no truth value here", describe(value)));
  if (get_if<View>(value)) error.hint = "a plan knows sizes, not data; write 'x is not None' to test for presence";
  return error;
}

namespace {
Result<bool> equals(const Value& a, const Value& b, Walk& walk) {
  const Walk::Down down(walk);
  PASSNET_TRY_VOID(walk.visit());
  const auto p = as_exact(a), q = as_exact(b);
  if (p && q) return *p == *q;
  if (get_if<View>(a) || get_if<View>(b)) {
    if (get_if<NoneValue>(a) || get_if<NoneValue>(b)) return false;
    return bad_pass(fmt::format("cannot compare {} with {}", describe(a), describe(b)))
        .with_hint("compare .shape, .dtype or .stride(); a plan knows sizes, not data");
  }
  const Sequence *s = get_sequence(a), *t = get_sequence(b);
  if (s && t) {
    if (s->is_list != t->is_list || s->items.size() != t->items.size()) return false;
    for (size_t i = 0; i < s->items.size(); ++i) {
      PASSNET_TRY(const bool same, equals(s->items[i], t->items[i], walk));
      if (!same) return false;
    }
    return true;
  }
  const auto *text = get_if<std::string>(a), *other = get_if<std::string>(b);
  if (a.index() != b.index()) return false;
  if (text != nullptr) {
    if (text->size() == other->size()) PASSNET_TRY_VOID(walk.steps.charge(text_steps(text->size())));
    return *text == *other;
  }
  if (const auto* dtype = get_if<ir::DType>(a)) return *dtype == std::get<ir::DType>(b);
  if (get_if<NoneValue>(a) || get_if<NotImplementedValue>(a) || get_if<EllipsisValue>(a) || get_if<DeviceValue>(a)) {
    return true;  // one value each
  }
  if (const auto* builtin = get_if<BuiltinValue>(a)) return builtin->builtin == std::get<BuiltinValue>(b).builtin;
  if (const auto* type = get_if<TypeValue>(a)) return type->name == std::get<TypeValue>(b).name;
  if (const auto* module = get_if<ModuleValue>(a)) return module->name == std::get<ModuleValue>(b).name;
  if (const auto* function = get_if<FunctionValue>(a)) {
    const auto& second = std::get<FunctionValue>(b);
    return function->function == second.function && function->frame == second.frame;
  }
  if (const auto* address = get_if<AddressValue>(a)) {
    const auto& second = std::get<AddressValue>(b);
    return address->of == second.of && address->offset == second.offset;
  }
  return type_error(Operator::Equal, a, b);
}
}  // namespace

Result<bool> equals(const Value& a, const Value& b, Budget& steps) {
  Walk walk{steps};
  return equals(a, b, walk);
}

Result<Value> apply_unary(Operator op, const Value& operand) {
  if (op == Operator::Not) {
    PASSNET_TRY(const bool value, truth(operand));
    return Value(!value);
  }
  if (const auto number = as_int(operand)) {
    if (op == Operator::Invert) return Value(~*number);
    return op == Operator::Negative ? int_arithmetic(Operator::Subtract, 0, *number) : Result<Value>(Value(*number));
  }
  if (const auto* number = get_if<double>(operand); number && op != Operator::Invert)
    return Value(op == Operator::Negative ? -*number : *number);
  return bad_pass(fmt::format("operator '{}' does not take {}", spelling(op), describe(operand)));
}

Result<Value> apply_binary(Operator op, const Value& a, const Value& b, Budget& steps) {
  if (op < Operator::Equal) return arithmetic(op, a, b, steps);
  Walk walk{steps};
  PASSNET_TRY(const bool result, compare(op, a, b, walk));
  return Value(result);
}

namespace {
/// Takes a chain of containers apart from the outside in: the destructors of a long one would fill the stack.
void take_apart(std::vector<Value> pending) {
  while (!pending.empty()) {
    const Value value = std::move(pending.back());
    pending.pop_back();
    const auto take = [&](auto& container) {
      if (container.use_count() > 1) return;
      if constexpr (std::is_same_v<decltype(container), const std::shared_ptr<Sequence>&>) {
        std::ranges::move(container->items, std::back_inserter(pending));
        container->items.clear();
      } else {
        for (auto& [key, item] : container->items) {
          pending.push_back(std::move(key));
          pending.push_back(std::move(item));
        }
        container->items.clear();
      }
    };
    if (const auto* sequence = get_if<std::shared_ptr<Sequence>>(value)) take(*sequence);
    if (const auto* dict = get_if<std::shared_ptr<Dict>>(value)) take(*dict);
  }
}
}  // namespace

Sequence::~Sequence() {
  if (depth > 1) take_apart(std::move(items));
}

Dict::~Dict() {
  std::vector<Value> values;
  if (depth <= 1) return;
  for (auto& [key, value] : items) values.push_back(std::move(value));
  take_apart(std::move(values));
}

}  // namespace passnet::pass
