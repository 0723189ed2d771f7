// A client that writes any bytes to a server of this machine.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <string>

#include "base/file/file.h"

namespace passnet::http {

class Client {
 public:
  explicit Client(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit{20, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  void say(const std::string& text) const {
    for (size_t sent = 0; sent < text.size();) {
      const ssize_t put = ::send(socket_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (put <= 0) return;
      sent += static_cast<size_t>(put);
    }
  }
  /// Until the server ends the connection.
  std::string hear_all() const {
    std::string heard;
    while (hear(heard)) continue;
    return heard;
  }
  /// Until that stands at the end.
  std::string hear_until(const std::string& end) const {
    std::string heard;
    while (!heard.ends_with(end) && hear(heard)) continue;
    return heard;
  }

 private:
  bool hear(std::string& heard) const {
    std::array<char, 4096> piece{};
    const ssize_t got = ::recv(socket_.get(), piece.data(), piece.size(), 0);
    if (got > 0) heard.append(piece.data(), static_cast<size_t>(got));
    return got > 0;
  }
  UniqueFd socket_;
};

}  // namespace passnet::http
