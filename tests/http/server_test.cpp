#include "http/server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "base/file/file.h"
#include "base/file/temporary_directory.h"
#include "base/hash.h"
#include "http/post.h"
#include "tests/http/client.h"

namespace passnet::http {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

/// A server that answers a body with itself, until the test ends.
class ServerTest : public testing::Test {
 protected:
  void start(const ServerLimits& limits = {}) {
    const std::vector<Route> routes = {{Route::Method::Post, "/echo",
                                        [](const ServerRequest& request) {
                                          return Reply{200, request.body};
                                        }},
                                       {Route::Method::Post, "/bytes",
                                        [](const ServerRequest& request) {
                                          return Reply{200, std::to_string(request.body.size())};
                                        },
                                        false},
                                       {Route::Method::Get, "/events",
                                        [this](const ServerRequest&) {
                                          Reply reply{200, "", "text/event-stream"};
                                          reply.stream = [this] {
                                            return ++asked_ % 2 == 0 ? fmt::format("data: {}\n\n", asked_ / 2)
                                                                     : std::string();
                                          };
                                          return reply;
                                        }},
                                       {Route::Method::Post, "/held",
                                        [this](const ServerRequest&) {
                                          held_.get_future().wait();
                                          return Reply{200, "held"};
                                        }},
                                       {Route::Method::Get, "/later/",
                                        [this](const ServerRequest& request) {
                                          Reply reply;
                                          reply.later = [this, request]() -> std::optional<Reply> {
                                            if (++asked_ < 2) return std::nullopt;
                                            return Reply{200, request.rest + " " + request.query, "text/plain"};
                                          };
                                          return reply;
                                        }},
                                       {Route::Method::Delete, "/later/",
                                        [](const ServerRequest& request) {
                                          return Reply{200, "no " + request.rest};
                                        }},
                                       {Route::Method::Get, kHealthPath, [](const ServerRequest& request) {
                                          return Reply{200, request.client};
                                        }}};
    ServerOptions options;
    options.limits = limits;
    options.tokens = tokens_;
    options.threads = 2;
    thread_ = std::thread([this, routes, options] {
      ended_ = serve(
          options, routes, [this](int port) { told_port_.set_value(port); }, stop_);
    });
    port_ = told_port_.get_future().get();
    url_ = "http://127.0.0.1:" + std::to_string(port_);
  }
  ~ServerTest() override { end(); }
  void end() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  Answer ask(const std::string& path, std::vector<std::string> headers = {}, const std::string& body = "{}") {
    const auto answer = post({url_ + path, std::move(headers), body}, {}, {}, nullptr);
    EXPECT_TRUE(answer.has_value());
    return answer.value_or(Answer{});
  }
  /// What a client hears that says this and waits for the end.
  std::string say(const std::string& text) const {
    const Client client(port_);
    client.say(text);
    return client.hear_all();
  }

  std::atomic<bool> stop_ = false;
  std::atomic<int> asked_ = 0;  // for a later reply
  Tokens tokens_;
  std::promise<int> told_port_;
  std::promise<void> held_;
  std::thread thread_;
  std::string url_;
  int port_ = 0;
  Result<void> ended_;
};

const std::string kEcho = "POST /echo HTTP/1.1\r\nHost: localhost\r\n";

TEST_F(ServerTest, AnswersByRoute) {
  start();
  EXPECT_EQ(ask("/echo").status, 200);
  EXPECT_EQ(ask("/echo").body, "{}");
  const Answer nothing = ask("/nothing");
  EXPECT_EQ(nothing.status, 404);
  EXPECT_EQ(nothing.body, "{\"error\":\"POST /nothing is not answered here\"}\n");
}

TEST_F(ServerTest, RefusesWhatAPageOfTheWebAsks) {
  start();
  EXPECT_EQ(ask("/echo", {"Origin: http://localhost:3000"}).status, 200);
  EXPECT_EQ(ask("/echo", {"Origin: https://example.com"}).status, 403);
  EXPECT_EQ(ask("/echo", {"Origin: http://127.0.0.1:80@example.com"}).status, 403);
  EXPECT_EQ(ask("/echo", {"Host: example.com"}).status, 403);
}

TEST_F(ServerTest, NeverTakesTheBodyOfARefusedRequestForARequest) {
  start();
  const std::string inner = kEcho + "Content-Length: 2\r\n\r\n{}";
  const std::string heard =
      say("POST /echo HTTP/1.1\r\nHost: localhost\r\nOrigin: http://example.com\r\nContent-Length: " +
          std::to_string(inner.size()) + "\r\n\r\n" + inner);
  EXPECT_THAT(heard, StartsWith("HTTP/1.1 403 Forbidden\r\n"));
  EXPECT_THAT(heard, testing::Not(HasSubstr("200")));
}

TEST_F(ServerTest, UnpacksNothing) {
  start();
  EXPECT_EQ(ask("/echo", {"Content-Encoding: gzip"}).status, 415);
  EXPECT_EQ(ask("/echo", {"Content-Encoding: identity"}).status, 200);
  EXPECT_EQ(ask("/echo", {"Transfer-Encoding: chunked"}).status, 411);
}

TEST_F(ServerTest, RefusesBodiesThatTakeTooMuch) {
  ServerLimits limits;
  limits.body_bytes = 1000000;
  start(limits);
  EXPECT_EQ(ask("/echo", {}, std::string(1000001, ' ')).status, 413);
  EXPECT_EQ(ask("/echo", {}, std::string(1000000, ' ')).status, 200);
  EXPECT_EQ(ask("/echo", {}, std::string(100000, '[')).status, 413);
  EXPECT_EQ(ask("/echo", {}, '"' + std::string(100000, '[') + '"').status, 200);
}

TEST_F(ServerTest, AnswersRequestsOfOneConnectionInTurn) {
  start();
  const Client client(port_);
  client.say(kEcho + "Content-Length: 3\r\n\r\none" + kEcho + "Content-Length: 3\r\n\r\ntwo");
  EXPECT_THAT(client.hear_until("two"), testing::MatchesRegex("HTTP/1.1 200 OK\r\n[^{]*one.*HTTP/1.1 200 OK\r\n.*two"));
  client.say(kEcho + "Content-Length: 5\r\nConnection: close\r\n\r\nthree");
  EXPECT_THAT(client.hear_all(), testing::EndsWith("three"));
}

TEST_F(ServerTest, SlowAndSilentClientsEndAndKeepNobodyWaiting) {
  ServerLimits limits;
  limits.head = limits.transfer = 200ms;
  start(limits);
  const Client silent(port_), slow_head(port_), slow_body(port_);
  slow_head.say("POST /ec");
  slow_body.say(kEcho + "Content-Length: 10\r\n\r\nabc");
  EXPECT_EQ(ask("/echo").status, 200);
  EXPECT_EQ(silent.hear_all(), "");
  EXPECT_THAT(slow_head.hear_all(), StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(slow_body.hear_all(), StartsWith("HTTP/1.1 408 "));
}

TEST_F(ServerTest, IdleConnectionsMakeRoomForOthers) {
  ServerLimits limits;
  limits.connections = limits.connections_per_client = 3;
  start(limits);
  const Client first(port_), second(port_), third(port_);
  EXPECT_EQ(ask("/echo").status, 200);
  EXPECT_EQ(first.hear_all(), "");
}

TEST_F(ServerTest, BodiesWaitForRoomAndAreRefusedWhenThatTakesTooLong) {
  ServerLimits limits;
  limits.all_body_bytes = 100;
  limits.room = 200ms;
  start(limits);
  const Client holds(port_);
  holds.say("POST /held HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60\r\n\r\n" + std::string(60, ' '));
  std::this_thread::sleep_for(50ms);
  EXPECT_THAT(say(kEcho + "Content-Length: 60\r\n\r\n"), StartsWith("HTTP/1.1 503 "));
  EXPECT_EQ(ask("/echo").status, 200);
  held_.set_value();
  EXPECT_THAT(holds.hear_until("held"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(ask("/echo", {}, std::string(60, ' ')).status, 200);
}

TEST_F(ServerTest, TellsToGoOnWithABody) {
  start();
  const Client client(port_);
  client.say(kEcho + "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.hear_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.say("{}");
  EXPECT_THAT(client.hear_until("{}"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(ServerTest, AsksForALaterReplyUntilItIsThere) {
  start();
  EXPECT_THAT(say("GET /later/7?wait=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
              testing::AllOf(HasSubstr("Content-Type: text/plain\r\n"), testing::EndsWith("\r\n\r\n7 wait=1")));
  EXPECT_GE(asked_, 2);
  EXPECT_THAT(say("DELETE /later/7 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
              testing::EndsWith("\r\n\r\nno 7"));
}

TEST_F(ServerTest, StreamsUntilTheClientGoesOrTheServerEnds) {
  start();
  {
    const Client client(port_);
    client.say("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(client.hear_until("data: 3\n\n"),
                testing::AllOf(StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"),
                               testing::EndsWith("\r\n\r\ndata: 1\n\ndata: 2\n\ndata: 3\n\n")));
  }
  std::this_thread::sleep_for(300ms);
  const int asked = asked_;
  EXPECT_EQ(ask("/echo").status, 200) << "others are answered meanwhile";
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(asked_, asked) << "nobody listens";
  const Client last(port_);
  last.say("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  last.hear_until("\n\n");
  end();
  EXPECT_TRUE(ended_.has_value());
}

TEST_F(ServerTest, BytesAreNotCountedAsJson) {
  start();
  EXPECT_EQ(ask("/bytes", {}, std::string(100000, '[')).body, "100000");
}

TEST_F(ServerTest, RefusesThoseThatWaitForALaterReplyWhenItEnds) {
  start();
  asked_ = -1000000;
  const Client client(port_);
  client.say("GET /later/7 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  while (asked_ == -1000000) std::this_thread::yield();
  stop_ = true;
  EXPECT_THAT(client.hear_until("}\n"), StartsWith("HTTP/1.1 503 "));
}

TEST_F(ServerTest, AnswersClientsWithATokenByAnyNameOfTheHost) {
  tokens_ = {{sha256_hex("a-token-of-client-one"), "one"}};
  start();
  const auto status = [&](const std::string& fields) {
    return say("POST /echo HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\nContent-Length: 2\r\n" + fields +
               "\r\n{}")
        .substr(9, 3);
  };
  EXPECT_EQ(status("Authorization: Bearer a-token-of-client-one\r\n"), "200");
  EXPECT_EQ(status("authorization: bearer  a-token-of-client-one \r\n"), "200");
  EXPECT_EQ(status("Authorization: Bearer a-token-of-client-on\r\n"), "401");
  EXPECT_EQ(status("Authorization: Basic a-token-of-client-one\r\n"), "401");
  // "any:a-token-of-client-one", as a browser sends what its user has given it.
  EXPECT_EQ(status("Authorization: Basic YW55OmEtdG9rZW4tb2YtY2xpZW50LW9uZQ==\r\n"), "200");
  EXPECT_EQ(status(""), "401");
  EXPECT_EQ(status("Authorization: Bearer a-token-of-client-one\r\nOrigin: http://example.com\r\n"), "403");
  EXPECT_THAT(say("GET /echo HTTP/1.1\r\n\r\n"), HasSubstr("\r\nWWW-Authenticate: Bearer, Basic realm="));
  EXPECT_THAT(say("GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST(Server, IsReachedByOthersWithTokensAlone) {
  ServerOptions options;
  options.host = "0.0.0.0";
  const Result<void> served = serve(
      options, {}, [](int) {}, std::atomic<bool>(true));
  ASSERT_FALSE(served.has_value());
  EXPECT_EQ(served.error().message, "0.0.0.0:0 can be reached from other machines, expected tokens");
  EXPECT_EQ(served.error().hint, "--token-file FILE, or --listen 127.0.0.1:PORT for this machine alone");
}

class TokensTest : public testing::Test {
 protected:
  Result<Tokens> load(const std::string& text) {
    EXPECT_TRUE(write_file(place_->path() / "tokens", std::string_view(text)));
    return load_tokens((place_->path() / "tokens").string());
  }
  std::string error_of(const std::string& text) {
    const Result<Tokens> tokens = load(text);
    return tokens ? "" : fmt::format("{}: {}", tokens.error().at->line, tokens.error().message);
  }
  Result<TemporaryDirectory> place_ = TemporaryDirectory::make("passnet-test-");
};

TEST_F(TokensTest, AreReadByLine) {
  const auto tokens = load("# clients\n\ntrainer 0123456789abcdef\nfedcba9876543210\n");
  ASSERT_TRUE(tokens.has_value());
  EXPECT_EQ(*tokens, (Tokens{{sha256_hex("0123456789abcdef"), "trainer"}, {sha256_hex("fedcba9876543210"), "4"}}));
}

TEST_F(TokensTest, AClientTakesTheFirst) {
  ASSERT_TRUE(load("# clients\nnode 0123456789abcdef\nother fedcba9876543210\n"));
  EXPECT_EQ(load_first_token((place_->path() / "tokens").string()).value(), "0123456789abcdef");
}

TEST_F(TokensTest, AreRefusedWithTheirLine) {
  EXPECT_EQ(error_of("\na short\n"), "2: a token of 5 characters, expected 16 to 200 of printable ASCII");
  EXPECT_EQ(error_of("a 0123456789abcdef\na fedcba9876543210\n"), "2: two clients 'a', expected a name for each token");
  EXPECT_EQ(error_of("a 0123456789abcdef\nb 0123456789abcdef\n"),
            "2: a token that another line has, expected one for each client");
  EXPECT_EQ(error_of("# none\n"), "0: no token, expected a line 'NAME TOKEN' for each client");
}

TEST_F(ServerTest, FinishesWhatIsInWorkBeforeItEnds) {
  start();
  const Client client(port_);
  client.say("POST /held HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
  std::this_thread::sleep_for(50ms);
  stop_ = true;
  std::this_thread::sleep_for(50ms);
  held_.set_value();
  EXPECT_THAT(client.hear_until("held"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(ServerTest, EndsWhenItIsTold) {
  start();
  end();
  EXPECT_TRUE(ended_.has_value());
}

TEST_F(ServerTest, TellsThatAPortIsTaken) {
  start();
  ServerOptions same;
  same.port = port_;
  const Result<void> second = serve(
      same, {}, [](int) {}, stop_);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().message, "cannot listen at 127.0.0.1:" + std::to_string(same.port));
}

}  // namespace
}  // namespace passnet::http
