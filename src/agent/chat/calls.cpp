#include "agent/chat/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "agent/chat/json_access.h"
#include "base/text/strings.h"

namespace passnet::agent {

namespace {

/// Objects that follow each other without a comma, as servers send that begin with "{}" or repeat the whole at the end:
/// the one that says something. Discarded: they differ.
Json one_of_many(std::string_view text) {
  Json found = Json::object();
  for (text = trim(text); !text.empty(); text = trim(text)) {
    const size_t end = json_end(text, 0);
    const Json one = end == std::string_view::npos ? Json() : read_json(text.substr(0, end));
    if (!one.is_object() || (!found.empty() && !one.empty() && one != found)) return {Json::value_t::discarded};
    if (!one.empty()) found = one;
    text.remove_prefix(end);
  }
  return found;
}

/// The object that arguments stand for; discarded: none.
Json object_of(std::string_view text) {
  constexpr int kMostLayers = 3;
  Json json = trim(text).empty() ? Json() : read_json(text);
  for (int layer = 0; layer < kMostLayers && json.is_string(); ++layer) {
    const std::string inner = json.get<std::string>();
    json = trim(inner).empty() ? Json() : read_json(inner);
  }
  if (json.is_discarded()) json = one_of_many(text);
  const bool is_nothing = json.is_null() || (json.is_array() && json.empty());  // languages without empty objects
  if (is_nothing) return Json::object();
  return json.is_object() ? json : Json(Json::value_t::discarded);
}

std::string problem_of(const std::string& name, std::string_view arguments) {
  const std::string where = "arguments of " + name;
  const Result<Json> json = parse_json(arguments, where);
  if (json) return fmt::format("{}: expected an object of JSON, found {}", where, quoted(arguments, 80));
  return to_string(json.error());
}

/// Only letters, digits, '_' and '-' are taken back by all servers; some models write "functions.NAME", or go on in their
/// own marks.
std::string usual_name(std::string_view name) {
  constexpr size_t kLongest = 64;
  constexpr std::string_view kPrefix = "functions.";
  name = trim(name.substr(0, name.find("<|")));
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  std::string usual(name.substr(0, kLongest));
  for (char& c : usual) {
    const bool is_usual = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    if (!is_usual) c = '_';
  }
  return usual;
}

void append_arguments(std::string& text, const std::string& more) {
  // Servers that send all there is with each piece. No object goes on with its own beginning.
  if (text.starts_with('{') && more.starts_with(text))
    text = more;
  else if (text.size() <= kMostArguments)
    text += more;
}

}  // namespace

ToolCall read_call(std::string_view id, std::string_view name, std::string_view arguments, bool cut) {
  ToolCall call{valid_utf8(id), usual_name(name), "{}"};
  const Json json = object_of(arguments);
  if (call.name.empty()) {
    call.name = "unnamed";
    call.problem = "the call has no name";
  } else if (cut && trim(arguments).empty()) {
    call.problem = fmt::format("arguments of {}: the answer was cut off before them", call.name);
  } else if (json.is_discarded()) {
    call.problem = problem_of(call.name, arguments);
  } else {
    call.arguments = try_parse_json(arguments) == json ? std::string(arguments) : compact(json);
  }
  return call;
}

std::string arguments_of(const Json& function) {
  const Json& arguments = member(function, "arguments");
  if (arguments.is_null()) return "";
  return arguments.is_string() ? arguments.get<std::string>() : compact(arguments);
}

bool is_cut(std::string_view finish) {
  constexpr std::string_view kReasons[] = {
      "length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "model_length", "model_context_window_exceeded"};
  return std::ranges::find(kReasons, finish) != std::end(kReasons);
}

void CallPieces::add_event(const Json& tool_calls) {
  ++event_;
  const Json list = tool_calls.is_object() ? Json::array({tool_calls}) : tool_calls;
  for (const Json& json : list) {
    if (!json.is_object()) continue;
    const Json& function = member(json, "function");
    const Json &index = member(json, "index"), &id = member(json, "id");
    Piece piece;
    if (index.is_number()) piece.index = index.get<int64_t>();
    if (!id.is_null()) piece.id = plain_text(id);
    piece.name = text_of(member(function, "name"));
    piece.arguments = arguments_of(function);
    add(piece);
  }
}

/// The call that a piece belongs to; null: it begins one. A piece without a name belongs to the last call of its index:
/// some servers give each piece an id of its own, others none.
CallPieces::Call* CallPieces::continued(const Piece& piece) {
  const auto of_index = [&](const Call& one) { return !piece.index || one.index == *piece.index; };
  Call* last = nullptr;
  for (Call& one : calls_) {
    const bool is_older = last != nullptr && !piece.id.empty() && last->id == piece.id && one.id != piece.id;
    if (of_index(one) && !is_older) last = &one;
  }
  if (last == nullptr || piece.name.empty()) return last;
  const bool other_id = !piece.id.empty() && !last->id.empty() && last->id != piece.id;
  const bool same_name = piece.name.starts_with(last->name);
  const bool is_whole = try_parse_json(last->arguments).is_object();
  const bool repeats_both = same_name && !piece.id.empty() && !is_whole;
  if (other_id || (last->event == event_ && !repeats_both)) return nullptr;
  if (last->arguments.empty()) return same_name || piece.index ? last : nullptr;
  if (!same_name) return nullptr;
  const bool goes_on =
      piece.arguments.empty() || (!piece.id.empty() && (last->arguments == piece.arguments || last->arguments == "{}"));
  return !is_whole || goes_on ? last : nullptr;
}

void CallPieces::add(const Piece& piece) {
  Call* call = continued(piece);
  if (call == nullptr) {
    const int64_t last_index = calls_.empty() ? 0 : calls_.back().index;
    call = &calls_.emplace_back(Call{piece.index.value_or(last_index), event_, {}, {}, {}});
  }
  if (call->id.empty()) call->id = piece.id;
  if (piece.name.starts_with(call->name))
    call->name = piece.name;  // the first piece, or the whole name again
  else
    call->name += piece.name;
  append_arguments(call->arguments, piece.arguments);
}

std::vector<ToolCall> CallPieces::finish(bool cut) {
  std::ranges::stable_sort(calls_, {}, &Call::index);
  std::vector<ToolCall> calls;
  for (const Call& one : calls_)
    calls.push_back(
        read_call(one.id, one.name, one.arguments.substr(0, kMostArguments), cut && &one == &calls_.back()));
  return calls;
}

void make_ids_unique(std::vector<ToolCall>& calls, const Conversation& earlier) {
  std::set<std::string> taken;
  for (const Message& message : earlier) {
    for (const ToolCall& call : message.calls) taken.insert(call.id);
  }
  size_t number = taken.size();
  for (ToolCall& call : calls) {
    // Nine letters and digits: Mistral's templates take nothing else.
    while (call.id.empty() || !taken.insert(call.id).second) call.id = fmt::format("call{:05}", ++number);
  }
}

}  // namespace passnet::agent
