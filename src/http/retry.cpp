#include "http/retry.h"

#include <curl/curl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "base/text/parse_number.h"
#include "base/text/strings.h"

namespace passnet::http {

bool is_passing(int status) {
  // 529: Anthropic's servers are overloaded; 408 and 425: ask again.
  return status == 408 || status == 409 || status == 425 || status == 429 || status >= 500;
}

bool is_passing(const Error& error) {
  return error.failure == "timeout" || error.failure == "connection" || error.failure == "cut-answer";
}

std::optional<double> parse_retry_after(std::string_view text, int64_t now) {
  text = trim(text);
  if (const std::optional<double> seconds = parse_number<double>(text))
    return std::isfinite(*seconds) && *seconds >= 0 ? seconds : std::nullopt;
  const time_t date = curl_getdate(std::string(text).c_str(), nullptr);
  if (date < 0) return std::nullopt;
  return std::max<double>(0, static_cast<double>(date - now));
}

double wait_before(int done, std::optional<double> asked_s, double random, const RetryPolicy& policy) {
  const double bound = std::min(policy.longest_s, policy.first_s * std::pow(2.0, done - 1));
  // A little later than asked: all that were refused at once would come back at once.
  if (asked_s) return *asked_s + 0.1 * random * policy.first_s;
  return bound * (0.5 + 0.5 * random);
}

bool wait(double seconds, const std::atomic<bool>* stop) {
  using namespace std::chrono;
  const auto end = steady_clock::now() + duration_cast<steady_clock::duration>(duration<double>(seconds));
  while (steady_clock::now() < end) {
    if (stop != nullptr && *stop) return false;
    std::this_thread::sleep_for(
        std::min<steady_clock::duration>(std::chrono::milliseconds(50), end - steady_clock::now()));
  }
  return stop == nullptr || !*stop;
}

}  // namespace passnet::http
