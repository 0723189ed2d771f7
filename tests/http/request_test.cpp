#include "http/request.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace passnet::http {
namespace {

constexpr size_t kMost = 1000;

tl::expected<Head, Refusal> parse(const std::string& text, bool on_loopback = true) {
  return parse_head(text, {on_loopback, kMost});
}

/// 0: it is answered.
int status_with(const std::string& fields, const std::string& line = "POST /mcp HTTP/1.1") {
  const auto head = parse(line + "\r\nHost: localhost:1\r\n" + fields + "\r\n");
  return head ? 0 : head.error().status;
}

TEST(Head, TellsWhatIsAsked) {
  const auto head =
      parse("POST /mcp?x=1 HTTP/1.1\r\nhOST:localhost\r\nContent-Length:  12 \r\nX-Any: \xc3\xa9\r\n\r\n");
  ASSERT_TRUE(head) << head.error().why;
  EXPECT_EQ(head->method, "POST");
  EXPECT_EQ(head->path, "/mcp");
  EXPECT_EQ(head->body_bytes, 12u);
  EXPECT_TRUE(head->keep_alive);
  EXPECT_FALSE(parse("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")->keep_alive);
  EXPECT_FALSE(parse("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: x, Close\r\n\r\n")->keep_alive);
}

TEST(Head, RefusesWhatIsNoHead) {
  for (const char* text : {"", "\r\n", "GET\r\n\r\n", "GET / HTTP/1.1", "GET / HTTP/1.1\n\n", "G T / HTTP/1.1\r\n\r\n",
                           "GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /\x01 HTTP/1.1\r\n\r\n",
                           "GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n"}) {
    const auto head = parse(text);
    ASSERT_FALSE(head) << text;
    EXPECT_EQ(head.error().status, 400) << text;
  }
  EXPECT_EQ(status_with("", "POST /mcp HTTP/2.0"), 505);
}

TEST(Head, RefusesFieldsThatOthersMightReadOtherwise) {
  EXPECT_EQ(status_with("Content-Length: 5\r\n"), 0);
  for (const char* fields :
       {"Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length: 5, 5\r\n", "Content-Length: +5\r\n",
        "Content-Length: 0x5\r\n", "Content-Length:\r\n", "Content-Length: -1\r\n",
        "Content-Length: 99999999999999999999999999\r\n", "Content-Length : 5\r\n", " folded: 5\r\n", "name\r\n",
        "X: a\rContent-Length: 5\r\n", "X: a\nContent-Length: 5\r\n", "Host: localhost\r\n", ": x\r\n"})
    EXPECT_EQ(status_with(fields), 400) << fields;
  std::string many;
  for (int i = 0; i < 101; ++i) many += fmt::format("X-{}: 1\r\n", i);
  EXPECT_EQ(status_with(many), 431);
}

TEST(Head, RefusesBodiesWhoseSizeIsNotToldOrTooLarge) {
  EXPECT_EQ(status_with("Content-Length: 1000\r\n"), 0);
  EXPECT_EQ(status_with("Content-Length: 1001\r\n"), 413);
  EXPECT_EQ(status_with("Transfer-Encoding: chunked\r\n"), 411);
  EXPECT_EQ(status_with("Content-Length: 5\r\nTransfer-Encoding: identity\r\n"), 411);
  for (const char* encoding : {"gzip", "GZIP", "deflate", "br", "identity, gzip", ""})
    EXPECT_EQ(status_with(fmt::format("Content-Encoding: {}\r\n", encoding)), 415) << encoding;
  EXPECT_EQ(status_with("Content-Encoding: identity\r\n"), 0);
}

TEST(Head, AnswersThisMachineAlone) {
  EXPECT_EQ(parse("GET / HTTP/1.1\r\n\r\n").error().status, 403);
  EXPECT_EQ(parse("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n").error().status, 403);
  EXPECT_TRUE(parse("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n", false));
  EXPECT_EQ(parse("GET / HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\n\r\n", false).error().status, 403);
  EXPECT_EQ(status_with("Origin: http://localhost\r\nOrigin: http://localhost\r\n"), 400);
}

TEST(Machine, IsKnownByItsNames) {
  for (const char* own : {"localhost", "LocalHost:65535", "127.0.0.1:80", "[::1]:8", "[::1]"})
    EXPECT_TRUE(is_host_of_this_machine(own)) << own;
  for (const char* other : {"",
                            "example.com",
                            "localhost.example.com",
                            "127.0.0.1.example.com",
                            "10.0.0.1",
                            "localhost:",
                            "localhost:65536",
                            "localhost:80:80",
                            "localhost:8a",
                            "localhost:-1",
                            "[::1",
                            "[::1]x",
                            "::1",
                            "[::1]example.com",
                            "127.0.0.1@x",
                            "localhost@example.com",
                            "user@localhost",
                            "localhost/x",
                            "localhost.",
                            "127.1",
                            "0.0.0.0",
                            "localhost x"})
    EXPECT_FALSE(is_host_of_this_machine(other)) << other;
  for (const char* own : {"http://localhost:1", "https://[::1]", "http://127.0.0.1"})
    EXPECT_TRUE(is_origin_of_this_machine(own)) << own;
  for (const char* other :
       {"", "null", "localhost", "http://", "http://localhost:1/x", "http://localhost.example.com", "ftp://localhost",
        "file://localhost", "http://localhost:1@example.com", "http://example.com", "http://localhost http://localhost",
        "http:///localhost", "HTTP:localhost"})
    EXPECT_FALSE(is_origin_of_this_machine(other)) << other;
}

TEST(JsonValues, AreCountedOutsideOfStrings) {
  EXPECT_TRUE(has_few_json_values(""));
  EXPECT_TRUE(has_few_json_values(std::string(kMostJsonValues - 1, '[')));
  EXPECT_FALSE(has_few_json_values(std::string(kMostJsonValues, '[')));
  EXPECT_TRUE(has_few_json_values('"' + std::string(kMostJsonValues, ',') + "\\\",\""));
}

}  // namespace
}  // namespace passnet::http
