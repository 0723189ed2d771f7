#include "cluster/queue_names.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/random.h"
#include "base/result.h"

namespace passnet::cluster {

bool is_plain_name(std::string_view name) {
  constexpr size_t kLongest = 201;  // the most that key_of() gives
  return !name.empty() && name.size() <= kLongest && name.front() != '.' && std::ranges::all_of(name, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x80 && (std::isalnum(byte) != 0 || c == '.' || c == '-' || c == '_');
  });
}

std::optional<StateName> parse_state_name(const std::string& name) {
  const size_t at = std::min(name.find('@'), name.size());
  const size_t tilde = name.rfind('~', at);
  if (tilde == name.npos) return std::nullopt;
  StateName parsed{name.substr(0, tilde), at < name.size() ? name.substr(at + 1) : "", 0};
  const auto [end, failed] = std::from_chars(name.data() + tilde + 1, name.data() + at, parsed.number);
  if (failed != std::errc() || end != name.data() + at) return std::nullopt;
  return parsed;
}

std::string key_of(std::string_view text) {
  while (text.size() > 1 && text.ends_with('/')) text.remove_suffix(1);
  return key_of_name(text.substr(text.rfind('/') + 1));
}

std::string key_of_name(std::string_view name) {
  std::string key(name);
  for (char& c : key) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || (std::isalnum(byte) == 0 && c != '.' && c != '-')) c = '_';
  }
  key.resize(std::min<size_t>(key.size(), 200));
  return key.empty() || key.front() == '.' ? "_" + key : key;
}

std::string new_worker_name() {
  char host[65] = "";
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = 0;
  const Result<uint64_t> drawn = random_number();
  return fmt::format("{}-{}-{:08x}", key_of(host).substr(0, 40), ::getpid(), drawn ? *drawn >> 32 : 0);
}

}  // namespace passnet::cluster
