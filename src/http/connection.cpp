#include "http/connection.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json/json.h"

namespace passnet::http {

namespace {

constexpr size_t kPiece = 64 << 10;
constexpr std::string_view kEmptyLine = "\r\n\r\n";

const char* phrase_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 202: return "Accepted";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 411: return "Length Required";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Error";
  }
}

}  // namespace

Connection::Connection(UniqueFd socket, std::string client, const ServerOptions& options, bool on_loopback)
    : socket_(std::move(socket)),
      client_(std::move(client)),
      limits_(options.limits),
      tokens_(options.tokens),
      on_loopback_(on_loopback) {}

void Connection::enter(State state) {
  state_ = state;
  since_ = Clock::now();
}

void Connection::read() {
  std::array<char, kPiece> piece;  // NOLINT: read into
  const size_t most = state_ == State::Head ? kMostHeadBytes : piece.size();
  const ssize_t got = ::recv(socket_.get(), piece.data(), most, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return enter(State::Over);
  if (state_ == State::Draining || state_ == State::Streaming) return;
  if (is_idle()) since_ = Clock::now();
  in_.append(piece.data(), static_cast<size_t>(got));
  take_bytes();
}

void Connection::take_bytes() {
  if (state_ == State::Head) {
    const size_t end = in_.find(kEmptyLine);
    if (end == std::string::npos) {
      if (in_.size() > kMostHeadBytes) refuse(431, fmt::format("a head of more than {} bytes", kMostHeadBytes));
      return;
    }
    const size_t size = end + kEmptyLine.size();
    if (size > kMostHeadBytes) return refuse(431, fmt::format("a head of more than {} bytes", kMostHeadBytes));
    auto head = parse_head(std::string_view(in_).substr(0, size), {on_loopback_, limits_.body_bytes, &tokens_});
    in_.erase(0, size);
    if (!head) return refuse(head.error().status, head.error().why);
    head_ = std::move(*head);
    return head_.body_bytes == 0 ? enter(State::Ready) : enter(State::Room);
  }
  if (state_ == State::Body && in_.size() >= head_.body_bytes) enter(State::Ready);
}

void Connection::give_room() {
  reserved_ = head_.body_bytes;
  in_.reserve(reserved_);
  enter(State::Body);
  // Small enough for any socket that nothing was written to.
  constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
  if (head_.expects_continue && in_.empty())
    (void)!::send(socket_.get(), kGoOn.data(), kGoOn.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  take_bytes();
}

std::string Connection::take_request() {
  std::string body = in_.size() == head_.body_bytes ? std::exchange(in_, {}) : in_.substr(0, head_.body_bytes);
  if (!in_.empty()) in_ = in_.substr(head_.body_bytes);
  enter(State::Answered);
  return body;
}

void Connection::answer(Reply reply) {
  if (reply.body.empty() && reply.status >= 400) {
    reply.body = dump(Json{{"error", fmt::format("{} {} is not answered here", head_.method, head_.path)}}) + "\n";
  }
  ends_ = !head_.keep_alive;
  send(reply.status, reply.body, reply.type);
}

void Connection::begin_stream(const char* type) {
  out_ =
      fmt::format("HTTP/1.1 200 OK\r\nContent-Type: {}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n", type);
  enter(State::Streaming);
  write();
}

void Connection::add(std::string_view text) {
  if (text.empty() || state_ != State::Streaming) return;
  if (out_.empty()) since_ = Clock::now();
  out_ += text;
  write();
}

void Connection::refuse(int status, const std::string& why) {
  ends_ = true;
  send(status, dump(Json{{"error", why}}) + "\n");
}

void Connection::send(int status, const std::string& body, const char* type) {
  reserved_ = 0;
  out_ = fmt::format("HTTP/1.1 {} {}\r\n{}{}{}Content-Length: {}\r\n\r\n", status, phrase_of(status),
                     body.empty() ? "" : fmt::format("Content-Type: {}\r\n", type),
                     status == 401                    ? "WWW-Authenticate: Bearer, Basic realm=\"passnet\"\r\n"
                     : status == 429 || status == 503 ? "Retry-After: 2\r\n"
                                                      : "",
                     ends_ ? "Connection: close\r\n" : "", body.size());
  if (head_.method != "HEAD") out_ += body;
  sent_ = 0;
  enter(State::Writing);
  write();
}

void Connection::write() {
  const ssize_t put = ::send(socket_.get(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (put < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (put < 0) return enter(State::Over);
  sent_ += static_cast<size_t>(put);
  if (sent_ < out_.size()) return;
  out_ = {};
  sent_ = 0;
  if (state_ == State::Streaming) return;
  served_ = true;
  if (ends_) return drain();
  enter(State::Head);
  // The next request may be here.
  if (!in_.empty()) take_bytes();
}

// Closing where bytes are unread resets the connection, and the client may lose the answer.
void Connection::drain() {
  in_ = {};
  enter(State::Draining);
  if (::shutdown(socket_.get(), SHUT_WR) != 0) enter(State::Over);
}

std::chrono::milliseconds Connection::limit() const {
  const auto transfer = [&](size_t bytes) { return limits_.transfer + std::chrono::milliseconds(bytes * 1000 >> 20); };
  switch (state_) {
    case State::Head: return served_ && in_.empty() ? limits_.idle : limits_.head;
    case State::Room: return limits_.room;
    case State::Body: return transfer(head_.body_bytes);
    case State::Writing: return transfer(out_.size());
    case State::Streaming: return out_.empty() ? std::chrono::milliseconds::max() : transfer(out_.size());
    case State::Draining: return limits_.transfer;
    default: return std::chrono::milliseconds::max();
  }
}

void Connection::check_time(Clock::time_point now) {
  const std::chrono::milliseconds most = limit();
  if (most == std::chrono::milliseconds::max() || now - since_ < most) return;
  if (state_ == State::Room) return refuse(503, "too many bytes of other requests are in work; try again");
  if (state_ == State::Body || (state_ == State::Head && !in_.empty()))
    return refuse(408, fmt::format("the request did not come within {} s", most.count() / 1000));
  enter(State::Over);
}

}  // namespace passnet::http
