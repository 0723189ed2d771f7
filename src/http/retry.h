// When a request is made again, and how long to wait before.
#pragma once

#include <atomic>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace passnet::http {

struct RetryPolicy {
  int tries = 8;       // in all
  double first_s = 1;  // the longest wait before the second try; doubled for each further one
  double longest_s = 60;
  double retry_after_limit_s = 600;  // a server that asks for more is asked no more
};

/// Whether the same request may succeed later: too many at a time, the server's own trouble, a time-out of a proxy.
bool is_passing(int status);
/// Whether an error of post() or of an answer's stream is of that kind.
bool is_passing(const Error& error);

/// Seconds of a Retry-After header: a number, or a date of HTTP. nullopt: it is neither.
/// now: seconds since 1970.
std::optional<double> parse_retry_after(std::string_view text, int64_t now);

/// Before try number `done` + 1 (done >= 1), in seconds: what the server asks for, or else a random part of a bound that
/// doubles. random: in [0, 1).
double wait_before(int done, std::optional<double> asked_s, double random, const RetryPolicy& policy);

/// Sleeps. Returns: false when `stop` became true before the end.
bool wait(double seconds, const std::atomic<bool>* stop);

}  // namespace passnet::http
