#include "base/budget.h"

#include <fmt/format.h>

#include <algorithm>

namespace passnet {

namespace {

constexpr int64_t kStepsPerLook = 4096;  // at the clock and the interruption
constexpr std::chrono::hours kLongest{24 * 365};

}  // namespace

Budget::Budget(const Work& work, const Ends& ends) : work_(work), ends_(ends) {
  if (ends.time) deadline_ = Clock::now() + std::min<std::chrono::milliseconds>(*ends.time, kLongest);
}

Budget::Budget(const Work& work, Budget& whole) : work_(work), whole_(&whole) {}

Budget::~Budget() {
  if (whole_ != nullptr) static_cast<void>(whole_->charge(granted_ - ahead_));
}

Result<void> Budget::check() const {
  if (over_) return *over_;
  return whole_ != nullptr ? whole_->check() : Result<void>();
}

Result<void> Budget::settle(size_t steps) {
  const size_t done = granted_ - ahead_ + std::min(steps, static_cast<size_t>(work_.most_steps) + 1);
  spent_ += static_cast<int64_t>(done);
  granted_ = ahead_ = 0;
  if (!over_) over_ = why_over(done);
  if (over_) return *over_;
  granted_ = ahead_ = static_cast<size_t>(std::min(kStepsPerLook, work_.most_steps - spent_));
  return {};
}

/// steps: done since the last look.
std::optional<Error> Budget::why_over(size_t steps) {
  const auto over = [&](std::string message) {
    return bad_pass(std::move(message)).with_hint(std::string(work_.hint));
  };
  if (spent_ > work_.most_steps) return over(fmt::format("{} more than {} steps", work_.takes, work_.most_steps));
  if (whole_ != nullptr) {
    Result<void> paid = whole_->charge(steps);
    return paid ? std::nullopt : std::optional(std::move(paid).error());
  }
  if (ends_.interrupted != nullptr && *ends_.interrupted)
    return resource_error("interrupted").with_failure("interrupted");
  if (Clock::now() < deadline_) return std::nullopt;
  return over(fmt::format("{} longer than {:.4g} s", work_.takes, std::chrono::duration<double>(*ends_.time).count()));
}

void Budget::postpone(Clock::duration time) {
  if (ends_.time) deadline_ += time;
}

std::chrono::milliseconds Budget::time_left(std::chrono::milliseconds most) const {
  if (whole_ != nullptr) return whole_->time_left(most);
  if (!ends_.time) return most;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now());
  return std::clamp(left, std::min(most, std::chrono::milliseconds(1)), most);
}

}  // namespace passnet
