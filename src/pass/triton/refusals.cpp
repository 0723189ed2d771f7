#include "pass/triton/refusals.h"

#include <mutex>
#include <unordered_map>

namespace passnet::pass {

namespace {

struct Refusals {
  std::mutex mutex;
  std::unordered_map<std::string, Error> errors;  // by key
};

Refusals& refusals() {
  static Refusals all;
  return all;
}

}  // namespace

std::optional<Error> known_refusal(const std::string& key) {
  const std::scoped_lock lock(refusals().mutex);
  const auto found = refusals().errors.find(key);
  return found == refusals().errors.end() ? std::nullopt : std::optional(found->second);
}

void remember_refusal(const std::string& key, const Error& error) {
  if (error.kind != Error::Kind::BadPass) return;
  const std::scoped_lock lock(refusals().mutex);
  refusals().errors.emplace(key, error);
}

}  // namespace passnet::pass
