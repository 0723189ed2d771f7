// Calls as servers send them: pieces, ids, indexes and arguments in odd forms.
#include "agent/chat/calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "agent/chat/json_access.h"

namespace passnet::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string arguments(std::string_view text) {
  const ToolCall call = read_call("a", "f", text, false);
  return call.problem.empty() ? call.arguments : "! " + call.problem;
}

TEST(Calls, HaveArgumentsThatAreAnObject) {
  for (const char* nothing : {"", " ", "null", "{}", "[]", "\"\"", "\"{}\"", "{}{}"})
    EXPECT_TRUE(arguments(nothing) == "{}") << nothing << " " << arguments(nothing);
  EXPECT_EQ(arguments("{\"x\": 1}"), "{\"x\": 1}");
  EXPECT_EQ(arguments(R"("{\"x\": 1}")"), "{\"x\":1}");
  EXPECT_EQ(arguments(R"("\"{\\\"x\\\": 1}\"")"), "{\"x\":1}");
  EXPECT_EQ(arguments("{}{\"x\": 1}"), "{\"x\":1}");
  EXPECT_EQ(arguments("{\"x\": 1} {\"x\": 1}"), "{\"x\":1}");
  EXPECT_EQ(arguments("{\"x\": \"a\nb\"}"), "{\"x\":\"a\\nb\"}");
  EXPECT_EQ(arguments(R"({"x": "\ud83d half \ud83d\ude00"})"), "{\"x\":\"\xef\xbf\xbd half \xf0\x9f\x98\x80\"}");
}

TEST(Calls, AreNotMadeWithOthers) {
  for (const char* wrong :
       {"[1]", "7", "\"text\"", "{", "{\"x\": \"import to", "{\"x\": 1}{\"x\": 2}", "{\"x\": 1}}", "{\"x\": 1}{"})
    EXPECT_THAT(arguments(wrong), HasSubstr("! ")) << wrong;
  EXPECT_THAT(arguments("[1]"), HasSubstr("arguments of f: expected an object of JSON, found '[1]'"));
  const ToolCall cut = read_call("a", "f", "{\"x\": \"import to", true);
  EXPECT_EQ(cut.arguments, "{}");
  EXPECT_THAT(cut.problem, HasSubstr("missing closing quote"));
  EXPECT_THAT(read_call("a", "f", "", true).problem, HasSubstr("cut off before them"));
}

TEST(Calls, HaveNamesThatServersTakeBack) {
  const auto name = [](std::string_view text) { return read_call("a", text, "{}", false).name; };
  EXPECT_EQ(name(" file_editor\n"), "file_editor");
  EXPECT_EQ(name("functions.file_editor"), "file_editor");
  EXPECT_EQ(name("file_editor<|channel|>commentary"), "file_editor");
  EXPECT_EQ(name("a b/c"), "a_b_c");
  EXPECT_EQ(name(std::string(200, 'x')).size(), 64u);
  EXPECT_EQ(name(""), "unnamed");
  EXPECT_EQ(read_call("a", "", "{}", false).problem, "the call has no name");
}

/// "ID NAME ARGUMENTS" of each call. events: lists of pieces.
std::vector<std::string> put_together(const std::vector<std::string>& events, bool cut = false) {
  CallPieces pieces;
  for (const std::string& event : events) pieces.add_event(try_parse_json(event));
  std::vector<std::string> shown;
  for (const ToolCall& call : pieces.finish(cut))
    shown.push_back(call.id + " " + call.name + " " + (call.problem.empty() ? call.arguments : "!"));
  return shown;
}

/// A piece as an event; fields: what stands beside the function.
std::string piece(const std::string& fields, const std::string& name, const std::string& text) {
  Json json = try_parse_json("{" + fields + "}");
  if (!name.empty()) json["function"]["name"] = name;
  json["function"]["arguments"] = text;
  return Json::array({json}).dump();
}

TEST(CallPieces, OfOneCall) {
  std::vector<std::vector<std::string>> all = {
      {piece(R"("index": 0, "id": "a")", "f", ""), piece(R"("index": 0)", "", "{\"x\""),
       piece(R"("index": 0)", "", ": 1}")},
      {piece(R"("index": 0, "id": "a")", "f", "{\"x\""), piece(R"("index": 0, "id": "a")", "f", ": 1}")},
      {piece(R"("index": 0, "id": "a")", "f", "{\"x\": 1}"), piece(R"("index": 0, "id": "a")", "f", "")},
      {piece(R"("index": 0, "id": "a")", "f", "{\"x\": 1}"), piece(R"("index": 0, "id": "a")", "f", "{\"x\": 1}")},
      {piece(R"("index": 0, "id": "a")", "f", "{\"x\""), piece(R"("index": 0, "id": "a")", "f", "{\"x\": 1}")},
      {piece(R"("index": 0, "id": "a")", "f", "{}"), piece(R"("index": 0, "id": "a")", "f", "{\"x\": 1}")},
      {piece(R"("index": 0, "id": "a")", "f", "{\"x\""), piece(R"("index": 0, "id": "other")", "", ": 1}")},
      {piece(R"("index": 0, "id": "a")", "f", ""), piece(R"("index": null, "id": null)", "", "{\"x\": 1}")},
      {piece(R"("id": "a")", "f", "{\"x\""), piece("", "", ": 1}")},
      {piece(R"("index": 0)", "f", "{\"x\": "), piece(R"("index": 0, "id": "a")", "f", "1}")},
      {R"({"index": 0, "id": "a", "function": {"name": "f", "arguments": {"x": 1}}})"},
  };
  // In one event, too.
  all.push_back(
      {R"([{"id": "a", "function": {"name": "f", "arguments": "{\"x\""}}, {"id": "a", "function": {"name": "f", "arguments": ": 1}"}}])"});
  for (const auto& events : all) {
    const auto found = put_together(events);
    ASSERT_EQ(found.size(), 1u) << events.back();
    EXPECT_TRUE(found[0] == "a f {\"x\": 1}" || found[0] == "a f {\"x\":1}") << found[0];
  }
  EXPECT_THAT(put_together({piece(R"("index": 0, "id": "a")", "file_", ""), piece(R"("index": 0)", "edit", "{}")}),
              ElementsAre("a file_edit {}"));
  EXPECT_THAT(put_together({piece(R"("index": 0, "id": "a")", "file_", ""), piece(R"("index": 0)", "file_edit", "{}")}),
              ElementsAre("a file_edit {}"));
}

TEST(CallPieces, OfParallelCalls) {
  const std::vector<std::vector<std::string>> all = {
      {piece(R"("index": 0, "id": "a")", "f", "{}"), piece(R"("index": 1, "id": "b")", "g", "{}")},
      {piece(R"("index": 1, "id": "b")", "g", "{}"), piece(R"("index": 0, "id": "a")", "f", "{}")},
      {piece(R"("index": 0, "id": "a")", "f", "{}"), piece(R"("index": 0, "id": "b")", "g", "{}")},
      {piece(R"("index": 0, "id": "a")", "f", ""), piece(R"("index": 0, "id": "b")", "g", "{"),
       piece(R"("index": 0)", "", "}")},
      {piece(R"("index": 0, "id": "a")", "f", "{"), piece(R"("index": 0, "id": "b")", "g", "{"),
       piece(R"("index": 0, "id": "a")", "", "}"), piece(R"("index": 0, "id": "b")", "", "}")},
      {R"([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}, {"index": 0, "id": "b", "function": {"name": "g", "arguments": "{}"}}])"},
      {R"([{"id": "a", "function": {"name": "f", "arguments": "{}"}}, {"id": "b", "function": {"name": "g", "arguments": "{}"}}])"},
      {piece(R"("id": "a")", "f", ""), piece(R"("id": "b")", "g", "")},
  };
  for (const auto& events : all) EXPECT_THAT(put_together(events), ElementsAre("a f {}", "b g {}")) << events.front();
  EXPECT_THAT(put_together({piece(R"("index": 0)", "f", "{}"), piece(R"("index": 0)", "g", "{}")}),
              ElementsAre(" f {}", " g {}"));
  EXPECT_THAT(put_together({piece(R"("index": 0)", "f", "{}"), piece(R"("index": 0)", "f", "{\"x\":1}")}),
              ElementsAre(" f {}", " f {\"x\":1}"));
  EXPECT_THAT(put_together({R"([{"function": {"name": "f"}}, {"function": {"name": "f"}}])"}),
              ElementsAre(" f {}", " f {}"));
  EXPECT_THAT(
      put_together({piece(R"("index": 0, "id": "s")", "f", "{}"), piece(R"("index": 1, "id": "s")", "g", "{}")}),
      ElementsAre("s f {}", "s g {}"));
}

TEST(CallPieces, ThatAreCutOff) {
  EXPECT_THAT(
      put_together({piece(R"("index": 0, "id": "a")", "f", ""), piece(R"("index": 1, "id": "b")", "g", "")}, true),
      ElementsAre("a f {}", "b g !"));
  EXPECT_THAT(put_together({piece(R"("index": 0, "id": "a")", "f", "{\"x")}, true), ElementsAre("a f !"));
}

TEST(CallPieces, AreBounded) {
  const std::string text = "{\"x\": \"" + std::string(3 * kMaxTextBytes, 'x') + "\"}";
  EXPECT_THAT(put_together({piece(R"("id": "a")", "f", text)}), ElementsAre("a f !"));
}

TEST(CallPieces, OfNonsenseAreNoCalls) {
  EXPECT_THAT(put_together({"null", "7", "\"x\"", "[]"}), ElementsAre());
  EXPECT_THAT(put_together({"[null, 7]"}), ElementsAre());
}

TEST(Ids, AreUniqueInAConversation) {
  Message earlier{Role::Assistant, ""};
  earlier.calls = {{"a", "f", "{}"}, {"call00002", "f", "{}"}};
  std::vector<ToolCall> calls = {{"a", "f", "{}"}, {"", "f", "{}"}, {"b", "f", "{}"}, {"b", "f", "{}"}};
  make_ids_unique(calls, {earlier});
  EXPECT_EQ(calls[0].id, "call00003");
  EXPECT_EQ(calls[1].id, "call00004");
  EXPECT_EQ(calls[2].id, "b");
  EXPECT_EQ(calls[3].id, "call00005");
}

TEST(OddJson, IsRead) {
  EXPECT_EQ(read_json("{\"a\": \"\\ude00\\ud83d\"}")["a"], "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(read_json("{\"a\": \"\\\\ud83d\"}")["a"], "\\ud83d");
  EXPECT_EQ(read_json("{\"a\": \"1\t2\r\n\"}")["a"], "1\t2\r\n");
  for (const char* text : {"{\"a\": \"\\u12\"}", "{\"a\": \"\\", "{\"a\": \"\\ud83d", "\\ud83d", "{"})
    EXPECT_TRUE(read_json(text).is_discarded()) << text;
  EXPECT_EQ(json_end("x{\"}\": [1]} y", 1), 11u);
  EXPECT_EQ(json_end("{\"a", 0), std::string_view::npos);
}

}  // namespace
}  // namespace passnet::agent
