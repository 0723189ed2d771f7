#include "run/worker/host_text.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/file/paths.h"
#include "base/file/replace.h"
#include "base/text/strings.h"
#include "base/text/visible.h"

namespace passnet::run {

namespace {

constexpr size_t kMostBytes = 300;
constexpr std::array<std::string_view, 8> kKinds = {"bad-pass", "untraceable", "internal", "resource",
                                                    "memory",   "timeout",     "crash",    "out-of-bounds"};

std::string cut(std::string text, const std::string& copies) {
  text = visible_line(replace_all(std::move(text), copies + "/", "/"));
  if (text.size() <= kMostBytes) return text;
  return valid_utf8(text.substr(0, kMostBytes)) + "…";
}

}  // namespace

void cut_host_texts(Json& reply, const std::filesystem::path& copies) {
  if (reply.is_string()) reply = cut(reply.get<std::string>(), copies.string());
  if (!reply.is_structured()) return;
  for (Json& part : reply) cut_host_texts(part, copies);
}

Error error_of_host_code(Error told, const std::filesystem::path& copies) {
  if (std::ranges::find(kKinds, told.failure) == kKinds.end()) told.failure = "bad-pass";
  if (!told.at) return told;
  const std::filesystem::path file = std::filesystem::path(told.at->file).lexically_normal();
  if (!file_exists(copies / file.relative_path())) told.at.reset();
  return told;
}

}  // namespace passnet::run
