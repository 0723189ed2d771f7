#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "agent/mcp/protocol.h"

namespace passnet::agent {
namespace {

McpOffer offer() {
  McpOffer offer{"passnet", "1", "how", {}, {}, {}};
  offer.tools.push_back({"add", "adds", R"({"type": "object"})",
                         [](const Json& arguments, const std::atomic<bool>*) -> Result<McpResult> {
                           if (!arguments.contains("x")) return bad_input("no x");
                           return McpResult{"sum", false, R"({"sum": 3})"};
                         }});
  offer.resources.push_back(
      {"passnet://docs/a", "a", "of a", "text/markdown", [] { return Result<std::string>("text"); }});
  offer.prompts.push_back({"write", "writes", {{"task", "which", true}}, [](const Json& arguments) {
                             return Result<std::string>("write " + arguments["task"].get<std::string>());
                           }});
  return offer;
}

Json ask(const std::string& method, const Json& parameters = Json::object()) {
  const auto answer =
      answer_mcp(offer(), Json{{"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", parameters}}.dump());
  EXPECT_TRUE(answer.has_value());
  const Json json = try_parse_json(answer.value_or("{}"));
  EXPECT_EQ(json["jsonrpc"], "2.0");
  EXPECT_EQ(json["id"], 7);
  return json;
}

TEST(Mcp, AgreesOnARevision) {
  EXPECT_EQ(ask("initialize", {{"protocolVersion", "2024-11-05"}})["result"]["protocolVersion"], "2024-11-05");
  const Json result = ask("initialize", {{"protocolVersion", "2099-01-01"}})["result"];
  EXPECT_EQ(result["protocolVersion"], kMcpVersion);
  EXPECT_EQ(result["serverInfo"], Json({{"name", "passnet"}, {"version", "1"}}));
  EXPECT_EQ(result["capabilities"].size(), 3u);
  EXPECT_EQ(result["instructions"], "how");
}

TEST(Mcp, ListsAndCallsTools) {
  EXPECT_EQ(ask("tools/list")["result"]["tools"][0].dump(),
            R"({"name":"add","description":"adds","inputSchema":{"type":"object"}})");
  EXPECT_EQ(ask("tools/call", {{"name", "add"}, {"arguments", {{"x", 1}}}})["result"].dump(),
            R"({"content":[{"type":"text","text":"sum"}],"isError":false,"structuredContent":{"sum":3}})");
  const Json wrong = ask("tools/call", {{"name", "add"}})["result"];
  EXPECT_TRUE(wrong["isError"]);
  EXPECT_EQ(wrong["content"][0]["text"], "error: no x");
  const Json unknown = ask("tools/call", {{"name", "sub"}})["error"];
  EXPECT_EQ(unknown["code"], -32602);
  EXPECT_EQ(unknown["message"], "no tool 'sub', expected one of: add");
}

TEST(Mcp, ReadsResourcesAndPrompts) {
  EXPECT_EQ(ask("resources/read", {{"uri", "passnet://docs/a"}})["result"]["contents"][0]["text"], "text");
  EXPECT_EQ(ask("resources/read", {{"uri", "passnet://b"}})["error"]["code"], -32002);
  EXPECT_EQ(ask("resources/list")["result"]["resources"].size(), 1u);
  EXPECT_EQ(ask("resources/templates/list")["result"]["resourceTemplates"], Json::array());
  EXPECT_EQ(ask("prompts/list")["result"]["prompts"][0]["arguments"][0]["required"], true);
  EXPECT_EQ(ask("prompts/get",
                {{"name", "write"}, {"arguments", {{"task", "t"}}}})["result"]["messages"][0]["content"]["text"],
            "write t");
  EXPECT_EQ(ask("prompts/get", {{"name", "write"}})["error"]["message"], "prompt 'write' needs the argument 'task'");
}

TEST(Mcp, AnswersNoNotification) {
  EXPECT_EQ(answer_mcp(offer(), R"({"jsonrpc": "2.0", "method": "notifications/initialized"})"), std::nullopt);
  EXPECT_EQ(answer_mcp(offer(), R"({"jsonrpc": "2.0", "id": 1, "result": {}})"), std::nullopt);
}

TEST(Mcp, SaysWhatIsWrongWithAMessage) {
  const auto code = [](std::string_view text) {
    return try_parse_json(answer_mcp(offer(), text).value())["error"]["code"].get<int>();
  };
  EXPECT_EQ(code("{"), -32700);
  EXPECT_EQ(code("7"), -32600);
  EXPECT_EQ(code("[]"), -32600);
  EXPECT_EQ(code(R"({"id": 1, "method": "ping"})"), -32600);
  EXPECT_EQ(code(R"({"jsonrpc": "2.0", "id": 1, "method": "no/such"})"), -32601);
}

TEST(Mcp, TakesArgumentsAsText) {
  const auto text = [](const Json& parameters) {
    return ask("tools/call", parameters)["result"]["content"][0]["text"];
  };
  EXPECT_EQ(text({{"name", "add"}, {"arguments", "{\"x\": 1}"}}), "sum");
  EXPECT_EQ(text({{"name", "add"}, {"arguments", nullptr}}), "error: no x");
  for (const Json& wrong : {Json("x"), Json(7), Json::array({1}), Json(true)}) {
    const Json error = ask("tools/call", {{"name", "add"}, {"arguments", wrong}})["error"];
    EXPECT_EQ(error["code"], -32602);
    EXPECT_EQ(error["message"], std::string("arguments: expected an object, found ") + wrong.type_name());
    EXPECT_EQ(ask("ping", wrong)["error"]["code"], -32602);
  }
}

TEST(Mcp, AnswersWithTheIdThatItGot) {
  for (const char* id : {"7", "\"7\"", "1.5", "-1", "true", "null", "{\"a\":1}", "[1]", "\"\""}) {
    const std::string text = std::string(R"({"jsonrpc":"2.0","id":)") + id + R"(,"method":"ping"})";
    EXPECT_EQ(answer_mcp(offer(), text), std::string(R"({"jsonrpc":"2.0","id":)") + id + R"(,"result":{}})");
  }
  // With half of an emoji in it, which no strict reader takes.
  const std::string half =
      R"({"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"add","arguments":{"x":"\ud83d"}}})";
  EXPECT_EQ(try_parse_json(*answer_mcp(offer(), half))["result"]["content"][0]["text"], "sum");
}

TEST(Mcp, AnswersListsOfMessages) {
  const auto answers = answer_mcp(
      offer(), R"([{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/x"}])");
  EXPECT_EQ(answers, R"([{"jsonrpc":"2.0","id":1,"result":{}}])");
}

}  // namespace
}  // namespace passnet::agent
