#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "agent/mcp/protocol.h"

namespace passnet::agent {
namespace {

McpOffer offer() {
  McpOffer offer{"passnet", "1", "how", {}, {}, {}};
  offer.tools.push_back({"add", "adds", R"({"type": "object"})", [](const Json& arguments) -> Result<McpResult> {
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
  EXPECT_EQ(code(R"({"jsonrpc": "2.0", "id": {}, "method": "ping"})"), -32600);
  EXPECT_EQ(code(R"({"jsonrpc": "2.0", "id": 1, "method": "no/such"})"), -32601);
}

TEST(Mcp, AnswersListsOfMessages) {
  const auto answers = answer_mcp(
      offer(), R"([{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/x"}])");
  EXPECT_EQ(answers, R"([{"jsonrpc":"2.0","id":1,"result":{}}])");
}

}  // namespace
}  // namespace passnet::agent
