// The part of ExpressionReader that follows names outside the function: items of collections, and lambdas.
#include <fmt/format.h>

#include "base/text/strings.h"
#include "fx/syntax/expression.h"
#include "fx/syntax/free_values.h"

namespace passnet::fx {

using ir::Arg;
using ir::ArgKind;

// item := NAME "[" key "]" ("[" key "]")* of a dict, list or tuple outside the function
Arg ExpressionReader::item_of(std::string_view name) {
  std::string path(name);
  const Binding* item = scope_.find(path);
  while (item->kind == Binding::Kind::Items) {
    const char* at = lexer_.at();
    if (lexer_.peek() != '[') {
      lexer_.fail(name.data(), fmt::format("found all of {}, expected one of its items", quoted(name)));
      return {};
    }
    const Arg key = subscript();
    const bool is_text = key.kind == ArgKind::String;
    if (is_text || key.kind == ArgKind::Int)
      path = is_text ? item_name(path, key.string()) : item_name(path, key.integer);
    item = is_text || key.kind == ArgKind::Int ? scope_.find(path) : nullptr;
    if (item == nullptr) {
      lexer_.fail(at, fmt::format("{} has no such item, or none that the graph language has words for", quoted(name)));
      return {};
    }
  }
  if (item->kind == Binding::Kind::Module) return dotted(item->value.string(), name);
  if (item->kind == Binding::Kind::Lambda) return call_lambda(*item, name);
  return postfix(item->value, name.data());
}

// call := NAME "(" [expression ("," expression)*] ")" of a lambda outside the function
Arg ExpressionReader::call_lambda(const Binding& lambda, std::string_view name) {
  const std::string& text = *lambdas_->texts[static_cast<size_t>(lambda.value.integer)];
  if (lexer_.peek() != '(') {
    lexer_.fail(name.data(), fmt::format("found the lambda {}, expected a call of it", quoted(name)));
    return {};
  }
  const Arguments seen = arguments();
  Arg result;
  if (!named(seen).empty()) lexer_.fail(name.data(), "found a keyword argument of a lambda, expected its position");
  if (!lexer_.failed()) result = body_of(text, given(seen), name);
  drop(seen);
  return postfix(result, name.data());
}

// lambda := "lambda" [NAME ("," NAME)*] ":" expression
Arg ExpressionReader::body_of(const std::string& lambda, std::span<const Arg> values, std::string_view name) {
  constexpr int kDeepest = 16;
  constexpr size_t kMostCalls = 4096;
  if (depth_ == kDeepest || ++lambdas_->calls > kMostCalls) {
    lexer_.fail(name.data(), fmt::format("lambdas call too many others: at most {}, {} deep", kMostCalls, kDeepest));
    return {};
  }
  Scope scope = lambdas_->names;
  Lexer text(graph_.file, lambda);
  text.enter_bracket();
  text.accept_word("lambda");
  size_t bound = 0;
  while (text.at_name()) {
    Binding& parameter = scope[text.name()];
    text.skip();
    if (bound < values.size()) parameter.kind = Binding::Kind::Value, parameter.value = values[bound];
    ++bound;
    if (!text.accept(',')) break;
  }
  text.expect(':', "':'");
  ExpressionReader body(text, scope, graph_, lambdas_);
  body.place_ = place_.value_or(lexer_.offset(name.data()));
  body.depth_ = depth_ + 1;
  const Arg result = body.expression();
  if (!text.at_end()) text.expected("the end of the lambda");
  if (text.failed() && depth_ == 0)
    lexer_.fail(name.data(), fmt::format("in the lambda {}: {}", quoted(name), text.take_error().message));
  else if (text.failed())
    lexer_.fail(name.data(), text.take_error().message);
  else if (bound != values.size())
    lexer_.fail(name.data(),
                fmt::format("the lambda {} takes {} arguments, found {}", quoted(name), bound, values.size()));
  unnamed.insert(unnamed.end(), body.unnamed.begin(), body.unnamed.end());
  return result;
}

}  // namespace passnet::fx
