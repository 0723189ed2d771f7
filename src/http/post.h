// One POST over HTTP, streamed or not. The only place that knows libcurl.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace passnet::http {

struct Request {
  std::string url;
  /// "Authorization: Bearer …": handed to libcurl alone, and never in a message.
  std::vector<std::string> headers;
  std::string body;
};

struct Limits {
  double connect_s = 20;
  double idle_s = 180;    // without a byte; models think before they write
  double whole_s = 1800;  // from the beginning to the end
  size_t max_bytes = size_t{64} << 20;
};

struct Answer {
  int status = 0;
  std::string body;         // empty where it was streamed
  std::string retry_after;  // as the server sent it; empty: it did not
};

/// on_data: gets the body piece by piece when the status is 200; empty: it is in the answer. An error that it gives ends
///          the transfer and is the result.
/// stop:    becomes true when the transfer is to end at once; may be null.
/// Errors:  Resource "timeout": a limit, with its seconds; Resource "connection": refused, cut, no such host, TLS;
///          Resource "too-large"; Resource (interrupted); BadInput: no URL of HTTP.
Result<Answer> post(const Request& request, const Limits& limits,
                    const std::function<Result<void>(std::string_view)>& on_data, const std::atomic<bool>* stop);

}  // namespace passnet::http
