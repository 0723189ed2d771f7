// One client's connection: bytes in, a request out, an answer in, bytes out. Nothing here waits.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/file/file.h"
#include "http/request.h"
#include "http/server.h"

namespace passnet::http {

class Connection {
 public:
  using Clock = std::chrono::steady_clock;
  enum class State : uint8_t {
    Head,      // reads one
    Room,      // has a head, and waits for room for its body
    Body,      // reads it
    Ready,     // has a request
    Answered,  // waits for the answer
    Writing,
    Streaming,  // writes what comes, without an end
    Draining,   // reads what the client still sends, so that it gets to the answer
    Over,
  };

  /// options must outlive this.
  Connection(UniqueFd socket, std::string client, const ServerOptions& options, bool on_loopback);

  int descriptor() const { return socket_.get(); }
  const std::string& client() const { return client_; }
  State state() const { return state_; }
  /// Has sent nothing of a request: may be closed to make room.
  bool is_idle() const { return state_ == State::Head && in_.empty(); }
  bool wants_to_read() const {
    return state_ == State::Head || state_ == State::Body || state_ == State::Draining || state_ == State::Streaming;
  }
  bool wants_to_write() const { return state_ == State::Writing || (state_ == State::Streaming && !out_.empty()); }
  const Head& head() const { return head_; }
  /// Of its body, once it has room, until it is answered.
  size_t reserved_bytes() const { return reserved_; }
  size_t unsent_bytes() const { return out_.size() - sent_; }
  Clock::time_point since() const { return since_; }  // of its state

  void read();
  void write();
  /// After Room.
  void give_room();
  /// The body of a request that is Ready, which is Answered next.
  std::string take_request();
  void answer(Reply reply);
  /// Answers with the head of a stream; add() appends to it.
  void begin_stream(const char* type);
  void add(std::string_view text);
  /// Answers so, and ends the connection.
  void refuse(int status, const std::string& why);
  /// Ends it, or refuses it, when its time is over.
  void check_time(Clock::time_point now);

 private:
  void enter(State state);
  void take_bytes();
  void send(int status, const std::string& body, const char* type = "application/json");
  void drain();
  std::chrono::milliseconds limit() const;

  UniqueFd socket_;
  const std::string client_;
  const ServerLimits& limits_;
  const Tokens& tokens_;
  const bool on_loopback_;
  State state_ = State::Head;
  Clock::time_point since_ = Clock::now();
  bool served_ = false;  // a request
  bool ends_ = false;    // after the answer
  Head head_;
  std::string in_, out_;
  size_t sent_ = 0, reserved_ = 0;
};

}  // namespace passnet::http
