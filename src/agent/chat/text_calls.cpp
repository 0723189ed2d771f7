#include "agent/chat/text_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "agent/chat/calls.h"
#include "agent/chat/json_access.h"
#include "base/text/strings.h"

namespace passnet::agent {

namespace {

constexpr size_t kNone = std::string_view::npos;

enum class Mark { Fence, ToolCall, Function, Thought, ThoughtEnd };
constexpr std::array<std::pair<std::string_view, Mark>, 5> kMarks = {{{"```", Mark::Fence},
                                                                      {"<tool_call>", Mark::ToolCall},
                                                                      {"<function=", Mark::Function},
                                                                      {"<think>", Mark::Thought},
                                                                      {"</think>", Mark::ThoughtEnd}}};
constexpr std::string_view kFenceEnd = "```", kToolCallEnd = "</tool_call>", kThoughtEnd = "</think>";

/// The tags around keys and values of a call.
struct Tags {
  std::string_view key, key_end, value, value_end, call_end;
};
constexpr Tags kQwenTags{"<parameter=", ">", "", "</parameter>", "</function>"};
constexpr Tags kGlmTags{"<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", kToolCallEnd};

/// The first member that there is, by the names that models use.
const Json& member_of(const Json& json, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const Json& found = member(json, name); !found.is_null()) return found;
  }
  return member(json, "");
}

ToolCall json_call(const Json& json) {
  const Json& function = member(json, "function");
  const Json& call = function.is_object() ? function : json;
  const Json& arguments = member_of(call, {"arguments", "parameters", "args", "input"});
  const std::string text = arguments.is_null() ? "{}" : plain_text(arguments);
  return read_call("", text_of(member_of(call, {"name", "tool", "function"})), text, false);
}

bool is_call(const Json& json) {
  return member(json, "name").is_string() && !member_of(json, {"arguments", "parameters"}).is_null();
}

/// The schema's type of a parameter: "string", "integer", …
std::string type_of(const std::vector<ToolSpec>& tools, std::string_view tool, std::string_view parameter) {
  const auto found = std::ranges::find(tools, tool, &ToolSpec::name);
  if (found == tools.end()) return "";
  const Json schema = try_parse_json(found->schema);
  return text_of(member(member(member(schema, "properties"), parameter), "type"));
}

/// A line break after the tag is layout, and so is then the one before the end.
std::string_view without_layout(std::string_view value) {
  for (const std::string_view line_end : {"\r\n", "\n"}) {
    if (!value.starts_with(line_end)) continue;
    value.remove_prefix(line_end.size());
    if (value.ends_with(line_end)) value.remove_suffix(line_end.size());
    break;
  }
  return value;
}

Json typed(std::string_view value, const std::string& type) {
  value = without_layout(value);
  if (type.empty() || type == "string") return std::string(value);
  const std::string_view bare = trim(value);
  if (bare == "True" || bare == "False") return bare == "True";
  const Json read = read_json(bare);
  return read.is_null() || read.is_discarded() ? Json(std::string(value)) : read;
}

class Finder {
 public:
  Finder(std::string_view text, const std::vector<ToolSpec>& tools, bool cut)
      : text_(text), tools_(tools), cut_(cut), end_(text.size()) {}

  CallsInText find() {
    constexpr int kMostMarks = 1000;  // more are no answer, and would take long
    for (int marks = 0; at_ < text_.size() && marks < kMostMarks; ++marks) {
      const std::pair<std::string_view, Mark>* mark = nullptr;
      begin_ = kNone;
      for (const auto& one : kMarks) {
        if (const size_t found = text_.find(one.first, at_); found < begin_) begin_ = found, mark = &one;
      }
      if (mark == nullptr) break;
      at_ = begin_ + mark->first.size();
      read(mark->second);
    }
    found_.text = text_.substr(0, end_);
    if (end_ < text_.size()) found_.text += "[a call that was cut off]";
    return std::move(found_);
  }

 private:
  void read(Mark mark) {
    switch (mark) {
      case Mark::Fence: return read_fence();
      case Mark::ToolCall: return read_tool_call();
      case Mark::Function: return read_function();
      case Mark::Thought: at_ = after(kThoughtEnd); return;
      // Templates that begin the thought themselves leave its end alone in the text.
      case Mark::ThoughtEnd: found_.calls.clear(); return;
    }
  }

  std::string_view rest(size_t at) const { return text_.substr(std::min(at, text_.size())); }
  size_t after(std::string_view tag) const {
    const size_t found = text_.find(tag, at_);
    return found == kNone ? text_.size() : found + tag.size();
  }
  size_t skip_space(size_t at) const { return std::min(text_.find_first_not_of(" \t\r\n", at), text_.size()); }
  void skip_tag(std::string_view tag) {
    if (const size_t at = skip_space(at_); rest(at).starts_with(tag)) at_ = at + tag.size();
  }

  void add_unreadable(std::string_view body, std::string_view expected) {
    ToolCall call = read_call("", "unreadable", "", false);
    call.problem = fmt::format("a call that cannot be read: found {}, expected {}", quoted(trim(body), 80), expected);
    found_.calls.push_back(std::move(call));
  }

  /// The text ends inside of a call.
  void add_cut_off() {
    ToolCall call = read_call("", "unreadable", "", false);
    call.problem = "the call was cut off, and nothing was done: write less at a time, and end each call";
    found_.calls.push_back(std::move(call));
    end_ = begin_;
    at_ = text_.size();
  }

  void read_fence() {
    const auto is_word = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
    const size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    const std::string_view language = text_.substr(begin, at_ - begin);
    const bool asks = language == "tool" || language == "tool_call" || language == "tool_calls";
    if (asks || language == "json" || language.empty()) read_json_calls(kFenceEnd, asks);
  }

  /// asks: all that stands here is meant as a call.
  void read_json_calls(std::string_view end_tag, bool asks) {
    size_t at = skip_space(at_);
    if (!asks && !rest(at).starts_with('{') && !rest(at).starts_with('[')) return;
    const size_t tag = text_.find(end_tag, at);
    do {
      const size_t end = json_end(text_, at);
      const bool has_value = rest(at).starts_with('{') || rest(at).starts_with('[');
      Json json = has_value && end != kNone ? read_json(text_.substr(at, end - at)) : Json(Json::value_t::discarded);
      if (json.is_discarded()) return asks ? add_broken(at, tag, end_tag) : void();
      for (const Json& one : json.is_array() ? json : Json::array({json})) {
        if (asks || is_call(one)) found_.calls.push_back(json_call(one));
      }
      at_ = at = end;
      at = skip_space(at);
    } while (rest(at).starts_with('{'));
    skip_tag(end_tag);
  }

  /// tag: where the block ends.
  void add_broken(size_t at, size_t tag, std::string_view end_tag) {
    if (tag == kNone) return add_cut_off();
    const std::string_view body = trim(text_.substr(at, tag - at));
    at_ = tag + end_tag.size();
    // The last bracket is what models forget.
    const Json mended = body.starts_with('{') ? read_json(std::string(body) + "}") : Json(Json::value_t::discarded);
    if (mended.is_object()) return found_.calls.push_back(json_call(mended));
    add_unreadable(body, R"({"name": "NAME", "arguments": {…}})");
  }

  void read_tool_call() {
    at_ = skip_space(at_);
    constexpr std::string_view kFunction = "<function=";
    if (rest(at_).starts_with(kFunction)) {
      at_ += kFunction.size();
      read_function();
      return skip_tag(kToolCallEnd);
    }
    if (rest(at_).starts_with('{') || rest(at_).starts_with('[')) return read_json_calls(kToolCallEnd, true);
    const size_t begin = at_, end = std::min(text_.find_first_of("< \t\r\n", at_), text_.size());
    const size_t next = skip_space(end);
    const std::string_view name = text_.substr(begin, end - begin);
    const bool is_tool = std::ranges::find(tools_, name, &ToolSpec::name) != tools_.end();
    if (next == text_.size() && cut_) return add_cut_off();
    const bool has_tags = rest(next).starts_with(kGlmTags.key) || rest(next).starts_with(kToolCallEnd);
    if ((next == text_.size() && is_tool) || (!name.empty() && has_tags)) {
      at_ = next;
      return read_tagged(name, kGlmTags);
    }
    const size_t tag = text_.find(kToolCallEnd, begin);
    if (tag == kNone) return;  // speaks of the tag
    at_ = tag + kToolCallEnd.size();
    add_unreadable(text_.substr(begin, tag - begin), R"({"name": "NAME", "arguments": {…}})");
  }

  void read_function() {
    const size_t begin = at_, end = text_.find_first_of("><\n", at_);
    if (end == kNone) return add_cut_off();
    if (text_[end] != '>') return;  // speaks of the tag
    at_ = end + 1;
    std::string_view name = trim(text_.substr(begin, end - begin));
    if (name.size() >= 2 && name.starts_with('"') && name.ends_with('"')) name = name.substr(1, name.size() - 2);
    read_tagged(name, kQwenTags);
  }

  void read_tagged(std::string_view name, const Tags& tags) {
    Json arguments = Json::object();
    for (at_ = skip_space(at_); rest(at_).starts_with(tags.key); at_ = skip_space(at_)) {
      const size_t key = at_ + tags.key.size(), key_end = text_.find(tags.key_end, key);
      if (key_end == kNone) return add_cut_off();
      size_t value = key_end + tags.key_end.size();
      if (!tags.value.empty()) {
        value = skip_space(value);
        if (!rest(value).starts_with(tags.value)) return add_unread(tags);
        value += tags.value.size();
      }
      const size_t value_end = end_of_value(value, tags);
      if (value_end == kNone) return add_cut_off();
      const std::string known(trim(text_.substr(key, key_end - key)));
      arguments[known] = typed(text_.substr(value, value_end - value), type_of(tools_, name, known));
      at_ = value_end + tags.value_end.size();
    }
    const bool is_ended = rest(at_).starts_with(tags.call_end);
    if (is_ended) at_ += tags.call_end.size();
    // The end tag is missing if it is the stop word of the model.
    if (at_ >= text_.size() && cut_ && !is_ended) return add_cut_off();
    if (!is_ended && at_ < text_.size() && !rest(at_).starts_with(kToolCallEnd)) return add_unread(tags);
    found_.calls.push_back(read_call("", name, compact(arguments), false));
  }

  void add_unread(const Tags& tags) {
    const size_t end = text_.find(tags.call_end, at_);
    if (end == kNone && cut_) return add_cut_off();
    add_unreadable(text_.substr(at_, end == kNone ? end : end - at_), fmt::format("{}KEY{}", tags.key, tags.key_end));
    at_ = end == kNone ? text_.size() : end + tags.call_end.size();
  }

  /// A value ends where another one, or the end of the call, follows. It may itself hold such an end: then more ends of
  /// values come before the next call.
  size_t end_of_value(size_t at, const Tags& tags) const {
    size_t first = kNone;
    for (size_t end = text_.find(tags.value_end, at); end != kNone; end = text_.find(tags.value_end, end + 1)) {
      const size_t next = skip_space(end + tags.value_end.size());
      const std::string_view follows = rest(next);
      if (follows.empty() || follows.starts_with(tags.key)) return end;
      if (!follows.starts_with(tags.call_end) && !follows.starts_with(kToolCallEnd)) continue;
      first = std::min(first, end);
      const size_t call = std::min(text_.find("<function=", next), text_.find("<tool_call>", next));
      if (text_.find(tags.value_end, next) >= call) return end;
    }
    return first;
  }

  const std::string_view text_;
  const std::vector<ToolSpec>& tools_;
  const bool cut_;
  size_t at_ = 0, begin_ = 0, end_;  // begin_: of the mark that is read; end_: of the text that is kept
  CallsInText found_;
};

}  // namespace

CallsInText calls_in_text(std::string_view text, const std::vector<ToolSpec>& tools, bool cut) {
  return Finder(text, tools, cut).find();
}

}  // namespace passnet::agent
