#include "wire/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace passnet::wire {
namespace {

using namespace std::chrono_literals;

struct Pair {
  UniqueFd a, b;
  Pair() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    a = UniqueFd(ends[0]);
    b = UniqueFd(ends[1]);
  }
  void write_raw(const std::string& bytes) {
    ASSERT_EQ(::write(a.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
};

std::string message_of(const Result<Message>& result) { return result ? "no error" : result.error().message; }

TEST(Frame, CarriesTextOfAnySize) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{5000}, size_t{3} << 20}) {
    Pair pair;
    const std::string text(size, 'x');
    std::thread sender([&] { EXPECT_TRUE(send_message(pair.a.get(), text)); });
    const auto got = receive_message(pair.b.get(), 5s);
    sender.join();
    ASSERT_TRUE(got) << message_of(got);
    EXPECT_EQ(got->json, text);
    EXPECT_TRUE(got->fds.empty());
  }
}

TEST(Frame, CarriesDescriptorsWithTheirMessage) {
  Pair pair;
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(::pipe(pipe_ends.data()), 0);
  const UniqueFd reader(pipe_ends[0]);
  {
    const UniqueFd writer(pipe_ends[1]);
    ASSERT_TRUE(send_message(pair.a.get(), "first", {writer.get(), writer.get()}));
    ASSERT_TRUE(send_message(pair.a.get(), "second"));
  }
  const auto first = receive_message(pair.b.get(), 1s);
  ASSERT_TRUE(first);
  ASSERT_EQ(first->fds.size(), 2u);
  ASSERT_EQ(::write(first->fds[1].get(), "hi", 2), 2);
  std::array<char, 2> text{};
  ASSERT_EQ(::read(reader.get(), text.data(), 2), 2);
  EXPECT_EQ(text[0], 'h');
  const auto second = receive_message(pair.b.get(), 1s);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->json, "second");
  EXPECT_TRUE(second->fds.empty());
}

TEST(Frame, KeepsMessagesApart) {
  Pair pair;
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(send_message(pair.a.get(), std::to_string(i)));
  for (int i = 0; i < 50; ++i) {
    const auto got = receive_message(pair.b.get(), 1s);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->json, std::to_string(i));
  }
}

TEST(Frame, GivesUpAtTheDeadline) {
  Pair pair;
  const auto start = std::chrono::steady_clock::now();
  const auto got = receive_message(pair.b.get(), 50ms);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 50ms);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, Error::Kind::Resource);
  EXPECT_EQ(got.error().message, "no message from the peer within 50 ms");
}

TEST(Frame, GivesUpOnAPeerThatSendsHalfAFrame) {
  Pair pair;
  pair.write_raw(std::string("\x10\x00\x00\x00half", 8));
  const auto got = receive_message(pair.b.get(), 50ms);
  EXPECT_EQ(message_of(got), "no message from the peer within 50 ms");
}

TEST(Frame, TellsAPeerThatLeft) {
  Pair pair;
  pair.a = UniqueFd();
  const auto got = receive_message(pair.b.get(), 1s);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, Error::Kind::Io);
  EXPECT_EQ(got.error().message, "peer closed the connection");
  EXPECT_EQ(got.error().hint, "");
  const auto sent = send_message(pair.b.get(), "text");
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().message, "peer closed the connection");
}

TEST(Frame, TellsAPeerThatLeftInsideAMessage) {
  for (const std::string& torn : {std::string("\x10\x00", 2), std::string("\x10\x00\x00\x00half", 8)}) {
    Pair pair;
    pair.write_raw(torn);
    pair.a = UniqueFd();
    const auto got = receive_message(pair.b.get(), 1s);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().message, "peer closed the connection");
    EXPECT_EQ(got.error().hint, "it left in the middle of a message");
  }
}

TEST(Frame, RefusesNonsense) {
  Pair pair;
  pair.write_raw("GET / HTTP/1.1\r\n");
  const auto got = receive_message(pair.b.get(), 1s);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, Error::Kind::BadInput);
  EXPECT_EQ(got.error().message, "not a frame: length 542393671, expected at most 268435456 bytes");
}

TEST(Frame, RefusesMoreDescriptorsThanAMessageHolds) {
  Pair pair;
  const auto sent = send_message(pair.a.get(), "x", std::vector<int>(17, 0));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().message, "message with 17 descriptors: at most 16 can travel");
}

}  // namespace
}  // namespace passnet::wire
