// A small HTTP/1.1 server for programs and pages. One thread reads and writes all connections,
// others answer, so that no client that is slow, silent or does not read keeps others waiting.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/request.h"

namespace passnet::http {

struct ServerRequest {
  std::string body;
  std::string query = {};   // "wait=30"
  std::string rest = {};    // of the path, where that of the route ends in '/'
  std::string client = {};  // the name of the token; without tokens the address
};

struct Reply {
  int status = 200;
  std::string body;  // empty: nothing
  const char* type = "application/json";
  /// The reply itself, once it is there. Asked again and again by the thread that reads and writes; takes no time.
  std::function<std::optional<Reply>()> later = {};
  /// Text of an answer without an end, such as server-sent events: asked as `later` is, until the client goes. Empty text:
  /// nothing yet.
  std::function<std::string()> stream = {};
};

struct Route {
  enum class Method { Get, Post, Delete } method = Method::Get;
  std::string path;  // "/rewards"; "/jobs/": all paths that begin so
  /// Called by several threads at once. Those of GET and DELETE take no time: they have a thread of their own.
  std::function<Reply(const ServerRequest& request)> answer;
  bool takes_json = true;  // else bodies are any bytes, and not counted as JSON
};

/// What clients may take in all, and each address. What is over is refused with 503, or waits.
struct ServerLimits {
  size_t connections = 768, connections_per_client = 640;  // idle ones are closed to make room for others
  size_t body_bytes = size_t{16} << 20;                    // of a request
  size_t all_body_bytes = size_t{32} << 20, body_bytes_per_client = size_t{24} << 20;  // that are read or answered
  size_t unsent_bytes = size_t{32} << 20;     // of answers, that are not taken; beyond it nothing more is answered
  std::chrono::milliseconds head{10000};      // from the first byte of a request, or from the connection on
  std::chrono::milliseconds idle{60000};      // between two requests of a connection
  std::chrono::milliseconds room{60000};      // for room for a body
  std::chrono::milliseconds transfer{10000};  // of a body or an answer, and a second more for each MiB
};

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any that is free
  int threads = 16;
  ServerLimits limits = {};
  Tokens tokens = {};
};

/// Reads tokens of clients: a line "NAME TOKEN" each, or "TOKEN", whose name is its number. Empty lines and those that
/// begin with '#' are left out. Errors: as read_file(); BadInput at the line: a token of less than 16 or more than 200
/// characters, a name or token that comes twice; no token at all.
Result<Tokens> load_tokens(const std::string& file);
/// The first token of such a file, for a client. Errors: as load_tokens().
Result<std::string> load_first_token(const std::string& file);

/// Serves until `stop` becomes true; requests that are in work then are finished, and those that wait for a later reply are
/// refused. A page of the web cannot ask it: what comes with an Origin of another machine is refused, and without tokens
/// what was asked by another name. JSON in bodies has at most kMostJsonValues values. Sets malloc to give memory back.
/// listening: called once, with the port.
/// Errors:    Resource: the address cannot be listened at. BadInput: others can reach it, and there are no tokens.
Result<void> serve(const ServerOptions& options, const std::vector<Route>& routes,
                   const std::function<void(int port)>& listening, const std::atomic<bool>& stop);

}  // namespace passnet::http
