// A small HTTP/1.1 server for programs on this machine: JSON in, JSON out. One thread reads and writes all connections,
// others answer, so that no client that is slow, silent or does not read keeps others waiting.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::agent {

struct HttpReply {
  int status = 200;
  std::string body;  // JSON; empty: nothing
};

struct HttpRoute {
  enum class Method { Get, Post } method = Method::Get;
  std::string path;  // "/rewards"
  /// Called by several threads at once. Those of GET take no time: they have a thread of their own.
  std::function<HttpReply(const std::string& body)> answer;
};

/// What clients may take in all, and each address. What is over is refused with 503, or waits.
struct HttpServerLimits {
  size_t connections = 768, connections_per_client = 640;  // idle ones are closed to make room for others
  size_t body_bytes = size_t{16} << 20;                    // of a request
  size_t all_body_bytes = size_t{32} << 20, body_bytes_per_client = size_t{24} << 20;  // that are read or answered
  size_t unsent_bytes = size_t{32} << 20;     // of answers, that are not taken; beyond it nothing more is answered
  std::chrono::milliseconds head{10000};      // from the first byte of a request, or from the connection on
  std::chrono::milliseconds idle{60000};      // between two requests of a connection
  std::chrono::milliseconds room{60000};      // for room for a body
  std::chrono::milliseconds transfer{10000};  // of a body or an answer, and a second more for each MiB
};

struct HttpServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any that is free
  int threads = 16;
  HttpServerLimits limits = {};
};

/// Serves until `stop` becomes true; requests that are in work then are finished. A page of the web cannot ask it: what
/// comes with an Origin of another machine is refused, and on a loopback address what was asked by another name.
/// Bodies are JSON, of at most kMostJsonValues values. Sets malloc to give memory back.
/// listening: called once, with the port.
/// Errors:    Resource: the address cannot be listened at.
Result<void> serve_http(const HttpServerOptions& options, const std::vector<HttpRoute>& routes,
                        const std::function<void(int port)>& listening, const std::atomic<bool>& stop);

}  // namespace passnet::agent
