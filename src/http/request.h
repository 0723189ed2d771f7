// The head of an HTTP request, read strictly: what could be understood in two ways is refused.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace passnet::http {

struct Head {
  std::string method;  // "POST"
  std::string path;    // "/rewards"
  std::string query;   // "wait=30"
  std::string client;  // the name of its token; empty: no tokens are asked for
  size_t body_bytes = 0;
  bool keep_alive = true;
  bool expects_continue = false;  // the client waits for "100 Continue" before it sends the body
};

/// Why a request is not answered.
struct Refusal {
  int status = 400;
  std::string why;
};

/// Bytes of a head, its empty line included.
inline constexpr size_t kMostHeadBytes = 16 << 10;
/// Values that the JSON of a body may hold: each takes a hundred bytes when it is read, and two in the body.
inline constexpr size_t kMostJsonValues = 1 << 15;

/// Names of clients by the SHA-256 of their tokens. Empty: none is asked for.
using Tokens = std::map<std::string, std::string>;

/// The one path that is answered without a token.
inline constexpr const char* kHealthPath = "/healthz";

/// Whether a request may be answered, besides its form.
struct Admission {
  bool on_loopback = true;  // then Host must name this machine, so that no page of the web can ask by a name of its own
  size_t max_body_bytes = 0;
  const Tokens* tokens = nullptr;  // in place of what Host must name; null or empty: none
};

/// head: all up to and with the empty line. Refused: 400 the form; 401 no token that is known; 403 a Host (on loopback) or an Origin of another
/// machine; 411 a body without Content-Length; 413 its size; 415 a Content-Encoding: what a body becomes is not known
/// before it is unpacked; 505 another version.
tl::expected<Head, Refusal> parse_head(std::string_view head, const Admission& admission);

/// "localhost", "127.0.0.1" or "[::1]", with a port or without: a Host.
bool is_host_of_this_machine(std::string_view host);
/// The same behind "http://" or "https://", and nothing else: an Origin.
bool is_origin_of_this_machine(std::string_view origin);

/// Whether a text has at most kMostJsonValues values, by its commas and brackets outside of strings.
bool has_few_json_values(std::string_view text);

}  // namespace passnet::http
