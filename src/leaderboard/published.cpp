#include "leaderboard/published.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text/parse_number.h"
#include "base/text/strings.h"
#include "record/stats.h"

namespace passnet::leaderboard {

namespace {

constexpr std::array kPublished = {
    PublishedModel{"Claude-Sonnet-4.6", 0.448}, PublishedModel{"Claude-Opus-4.6", 0.410},
    PublishedModel{"GPT-5.4", 0.410},           PublishedModel{"Qwen3-30B-A3B-SFT", 0.371},
    PublishedModel{"GLM-5.1", 0.240},           PublishedModel{"Qwen3-4B-SFT", 0.240},
    PublishedModel{"MiniMax-M2.7", 0.208},      PublishedModel{"Qwen3-30B-A3B", 0.139},
    PublishedModel{"Qwen3-4B", 0.108},
};

}  // namespace

std::optional<PublishedModel> published_model(std::string_view name) {
  const auto found = std::ranges::find(kPublished, name, &PublishedModel::name);
  return found == kPublished.end() ? std::nullopt : std::optional(*found);
}

std::optional<double> model_score(const std::vector<std::optional<double>>& tasks) {
  if (tasks.empty()) return std::nullopt;
  std::vector<double> counted;
  for (const std::optional<double>& task : tasks) counted.push_back(std::max(task.value_or(kTaskFloor), kTaskFloor));
  return record::geometric_mean(counted);
}

Result<double> parse_score(std::string_view text, const std::string& file) {
  const std::string_view number = trim(text);
  const std::optional<double> score = parse_number<double>(number);
  if (score && std::isfinite(*score) && *score >= 0) return *score;
  return bad_input(fmt::format("found {}, expected a score: a number that is not negative", quoted(number, 40)),
                   SourceLoc{file});
}

}  // namespace passnet::leaderboard
