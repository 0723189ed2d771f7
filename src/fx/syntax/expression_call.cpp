// The part of ExpressionReader that follows a dotted name: constants, calls, and their arguments.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <numbers>

#include "base/text/strings.h"
#include "fx/syntax/expression.h"

namespace passnet::fx {

using ir::Arg;
using ir::ArgKind;
using ir::NodeKind;

namespace {

constexpr size_t kMaxJoinedPath = 1024;
constexpr std::string_view kTensor = "torch.Tensor.";

bool is_sequence(const Arg& arg) { return arg.kind == ArgKind::Tuple || arg.kind == ArgKind::List; }

/// "torch.ops.aten.add" of "torch.ops.aten.add.out", whose overload is chosen by its other arguments.
std::string_view without_out(std::string_view path) {
  const size_t dot = path.rfind('.');
  const std::string_view overload = path.substr(dot + 1);
  const bool names_it = path.starts_with("torch.ops.aten.") && (overload == "out" || overload.ends_with("_out"));
  return names_it ? path.substr(0, dot) : path;
}

// Whether the text is an int of 0 or more as Python prints it.
bool is_index(std::string_view text) {
  int64_t number = -1;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc{} && number >= 0 && fmt::to_string(number) == text;
}

}  // namespace

// dotted := MODULE ("." NAME)*, a call or a constant. The path is a view into the text where it stands there
// in one piece.
Arg ExpressionReader::dotted(std::string_view path, std::string_view first) {
  const char* at = first.data();
  bool in_text = path == first;
  if (in_text) path = first;
  while (lexer_.peek() == '.') {
    const bool adjacent = in_text && path.data() + path.size() == lexer_.at();
    lexer_.take(1);
    const std::string_view name = lexer_.name();
    if (name.empty()) {
      lexer_.expected("a name");
      return {};
    }
    in_text = adjacent && path.data() + path.size() + 1 == name.data();
    if (in_text) {
      path = {path.data(), path.size() + 1 + name.size()};
    } else if (path.size() + name.size() > kMaxJoinedPath) {
      lexer_.fail(at, fmt::format("dotted name is too long: more than {} bytes", kMaxJoinedPath));
      return {};
    } else {
      path = graph_.intern(fmt::format("{}.{}", path, name));
    }
    if (lexer_.peek() != '.') lexer_.skip();
  }
  if (path.starts_with("self") && (path.size() == 4 || path[4] == '.')) {
    lexer_.fail(at, fmt::format("found {}, but graphs hold no attributes", quoted(path)),
                "make parameters, buffers and submodules' weights arguments of forward", Error::Kind::Unsupported);
    return {};
  }
  return lexer_.peek() == '(' ? postfix(call(path, at), at) : constant(path, at);
}

Arg ExpressionReader::constant(std::string_view path, const char* at) {
  const size_t dot = path.find('.');
  if (dot == std::string_view::npos) {
    lexer_.fail(at, fmt::format("found the module {}, expected a value", quoted(path)));
    return {};
  }
  const std::string_view root = path.substr(0, dot), rest = path.substr(dot + 1);
  if (root == "torch" || root == "math") {
    if (rest == "inf") return Arg::of_float(std::numeric_limits<double>::infinity());
    if (rest == "nan") return Arg::of_float(std::numeric_limits<double>::quiet_NaN());
    if (rest == "pi") return Arg::of_float(std::numbers::pi);
    if (rest == "e") return Arg::of_float(std::numbers::e);
  }
  if (root != "torch") {
    lexer_.fail(at, fmt::format("unknown constant {}, expected one of torch or math", quoted(path)));
    return {};
  }
  if (const auto dtype = ir::parse_dtype(path)) return Arg::of_dtype(*dtype);
  return Arg::of_text(ArgKind::Constant, path);
}

// call := dotted "(" arguments ")"
Arg ExpressionReader::call(std::string_view path, const char* at) {
  const Arguments seen = arguments();
  if (lexer_.failed()) return {};
  Arg result;
  const bool of_operator = path.starts_with("operator.") || path.starts_with("_operator.");
  if (path == "torch.device") {
    result = device(seen, at);
  } else if (path.starts_with(kTensor) && !given(seen).empty()) {
    // torch.Tensor.relu(x) is x.relu().
    result = Arg::of_node(add(NodeKind::CallMethod, path.substr(kTensor.size()), given(seen), at, named(seen)));
  } else if (const auto out = take_out(path, seen)) {
    result = Arg::of_node(add(NodeKind::CallFunction, without_out(path), given(seen), at, named(seen)));
    result = store_into(*out, result, at);
  } else if (!of_operator) {
    result = Arg::of_node(add(NodeKind::CallFunction, path, given(seen), at, named(seen)));
  } else if (const OperatorRow* row = find_operator_function(path.substr(path.find('.') + 1))) {
    result = Arg::of_node(add(NodeKind::Operator, row->target, given(seen), at, named(seen)));
  } else {
    lexer_.fail(at, fmt::format("unknown operator function {}", quoted(path)));
  }
  drop(seen);
  return result;
}

// Takes the tensors that `out=` names away from the arguments of a call of torch; none: it names none.
std::optional<Arg> ExpressionReader::take_out(std::string_view path, const Arguments& seen) {
  if (!path.starts_with("torch.")) return std::nullopt;
  const auto out = std::ranges::find(keywords_.begin() + static_cast<ptrdiff_t>(seen.first_keyword), keywords_.end(),
                                     std::string_view("out"), &ir::Keyword::name);
  if (out == keywords_.end() || (out->value.kind != ArgKind::Node && !is_sequence(out->value))) return std::nullopt;
  const Arg value = out->value;
  keywords_.erase(out);
  return value;
}

// `torch.add(x, y, out=o)` overwrites o with what the call gives: graphs say it as `o.copy_(torch.add(x, y).view_as(o))`, so
// that one way to overwrite a tensor is all that there is. Another number of elements, to which PyTorch would resize o, is an
// error of view_as.
Arg ExpressionReader::store_into(const Arg& out, const Arg& result, const char* at) {
  if (out.kind == ArgKind::Node) {
    const Arg shaped = add_arg(NodeKind::CallMethod, "view_as", {result, out}, at);
    return add_arg(NodeKind::CallMethod, "copy_", {out, shaped}, at);
  }
  const auto elements = graph_.elements(out);
  const std::vector<Arg> targets(elements.begin(), elements.end());
  std::vector<Arg> stored;
  for (const Arg& target : targets) {
    if (target.kind != ArgKind::Node) {
      lexer_.fail(at, "expected tensors after 'out='");
      return {};
    }
    const Arg index = Arg::of_int(static_cast<int64_t>(stored.size()));
    stored.push_back(store_into(target, add_arg(NodeKind::Operator, "getitem", {result, index}, at), at));
  }
  return graph_.make_container(ArgKind::Tuple, stored);
}

// arguments := "(" [argument ("," argument)* [","]] ")"
ExpressionReader::Arguments ExpressionReader::arguments() {
  const Arguments seen{stack_.size(), keywords_.size()};
  lexer_.open_bracket();
  lexer_.list(')', [&] { argument(seen); });
  return seen;
}

// argument := NAME "=" expression | expression; positional ones first
void ExpressionReader::argument(const Arguments& seen) {
  constexpr size_t kMaxKeywords = 255;
  const char* at = lexer_.at();
  std::string_view name;
  if (lexer_.at_name()) {
    name = lexer_.name();
    if (lexer_.at_quote()) {
      lexer_.jump(at);
      name = {};
    } else {
      lexer_.skip();
    }
  } else if (lexer_.peek() == '*') {
    return lexer_.fail(at, "starred arguments are not part of the graph language", "write the arguments out");
  }
  if (!name.empty() && lexer_.at_assign()) {
    lexer_.take(1);
    const Arg value = expression();
    for (const ir::Keyword& other : named(seen)) {
      if (other.name == name) return lexer_.fail(at, fmt::format("keyword {} is given twice", quoted(name)));
    }
    if (named(seen).size() == kMaxKeywords) {
      return lexer_.fail(at, fmt::format("too many keyword arguments: more than {}", kMaxKeywords));
    }
    keywords_.push_back({name, value});
    return;
  }
  if (!named(seen).empty()) return lexer_.fail(at, "found a positional argument after a keyword argument");
  const Arg value = name.empty() ? expression() : expression_after(name);
  stack_.push_back(value);
}

// device := "device" "(" type [, index] ")", each positional or by keyword; also "cuda:0" in one string
Arg ExpressionReader::device(const Arguments& seen, const char* at) {
  Arg type, index;
  bool fits = given(seen).size() <= 2;
  if (!given(seen).empty()) type = given(seen)[0];
  if (given(seen).size() == 2) index = given(seen)[1];
  for (const ir::Keyword& keyword : named(seen)) {
    if (keyword.name == "type" || keyword.name == "device")
      type = keyword.value;
    else if (keyword.name == "index")
      index = keyword.value;
    else
      fits = false;
  }
  fits = fits && type.kind == ArgKind::String && type.count <= 64 &&
         (index.kind == ArgKind::None || (index.kind == ArgKind::Int && index.integer >= 0));
  std::string_view name = fits ? type.string() : std::string_view{};
  if (const size_t colon = name.find(':'); colon != std::string_view::npos) {
    fits = index.kind == ArgKind::None && is_index(name.substr(colon + 1));
    name = name.substr(0, colon);
  }
  const auto is_name_byte = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  if (!fits || name.empty() || !std::ranges::all_of(name, is_name_byte)) {
    lexer_.fail(at, "expected device('cpu'), device('cuda:0') or device(type='cuda', index=0)");
    return {};
  }
  if (index.kind == ArgKind::None) return Arg::of_text(ArgKind::Device, type.string());
  return Arg::of_text(ArgKind::Device, graph_.intern(fmt::format("{}:{}", type.string(), index.integer)));
}

// slice := "slice" "(" [start ","] stop ["," step] ")"
Arg ExpressionReader::slice(const char* at) {
  const Arguments seen = arguments();
  if (lexer_.failed()) return {};
  const auto parts = given(seen);
  if (!named(seen).empty() || parts.empty() || parts.size() > 3) {
    lexer_.fail(at,
                fmt::format("slice takes 1 to 3 positional arguments, found {}", parts.size() + named(seen).size()));
    return {};
  }
  Arg full[3];
  std::ranges::copy(parts, parts.size() == 1 ? full + 1 : full);
  drop(seen);
  return graph_.make_container(ArgKind::Slice, full);
}

// float_of_text := "float" "(" string ")"
Arg ExpressionReader::float_of_text(const char* at) {
  const Arguments seen = arguments();
  if (lexer_.failed()) return {};
  const bool one_text = named(seen).empty() && given(seen).size() == 1 && given(seen)[0].kind == ArgKind::String;
  std::string_view text = one_text ? trim(given(seen)[0].string()) : std::string_view{};
  drop(seen);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || status != std::errc{} || stop != text.data() + text.size()) {
    lexer_.fail(at, "expected a number in a string, as in float('inf')");
    return {};
  }
  return Arg::of_float(value);
}

}  // namespace passnet::fx
