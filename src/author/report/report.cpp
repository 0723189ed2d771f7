#include "author/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/json/json_fields.h"

namespace passnet::author {

namespace {

constexpr size_t kLongestCause = 150;

Json to_json(const std::optional<Outside>& outside) {
  if (!outside) return nullptr;
  return {{"statement", valid_utf8(outside->statement)}, {"why", valid_utf8(outside->why)}};
}

Json to_json(const ProductRun& product) {
  return {{"steps", product.steps},
          {"tile_rows", product.rows},
          {"tile_columns", product.columns},
          {"blocks", product.cluster}};
}

Json to_json(const Explained& explained) {
  Json operators = Json::array(), values = Json::array(), kernels = Json::array(), called = Json::array();
  for (const std::string& one : explained.operators) operators.push_back(valid_utf8(one));
  for (const ValuePlace& one : explained.values)
    values.push_back({{"value", valid_utf8(one.value)}, {"place", to_string(one.place)}, {"kernels", one.kernels}});
  for (const KernelRun& one : explained.kernels)
    kernels.push_back({{"kernel", one.kernel},
                       {"stores", one.stores},
                       {"items", one.items},
                       {"row", one.row},
                       {"lanes", one.shares_rows ? "row" : "items"},
                       {"threads", one.threads},
                       {"packs", one.packs},
                       {"tiles", one.tiles},
                       {"bands", one.bands},
                       {"product", one.product ? to_json(*one.product) : Json()},
                       {"parts", {{"cpu", one.cpu_parts}, {"gpu", one.gpu_parts}}}});
  for (const CalledOperator& one : explained.called)
    called.push_back({{"statement", valid_utf8(one.statement)},
                      {"why", valid_utf8(one.why)},
                      {"without_bias", one.without_bias},
                      {"measured", one.measured},
                      {"channels_last", one.channels_last}});
  return {{"operators", std::move(operators)}, {"before", to_json(explained.before)},
          {"after", to_json(explained.after)}, {"values", std::move(values)},
          {"kernels", std::move(kernels)},     {"called", std::move(called)}};
}

Json to_json(const Roofline& roofline) {
  return {{"gb_per_s", number_json(roofline.gb_per_s)},
          {"bytes_us", number_json(roofline.bytes_us)},
          {"launches_us", roofline.launches_us > 0 ? number_json(roofline.launches_us) : Json()},
          {"measured_us", roofline.measured_us ? number_json(*roofline.measured_us) : Json()}};
}

Json to_json(const Reach& reach) {
  return {{"graphs", reach.graphs}, {"matching", reach.matching}, {"evaluated", reach.evaluated},
          {"right", reach.right},   {"faster", reach.faster},     {"declined", reach.declined}};
}

template <class Value>
Json found_or_null(const std::map<std::string, Value>& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? Json() : to_json(found->second);
}

Json to_json(const std::map<std::string, std::string>& reasons) {
  Json json = Json::object();
  for (const auto& [graph, why] : reasons) json[valid_utf8(graph)] = valid_utf8(why);
  return json;
}

const PassVerdict* verdict_of(const Judged* judged, const std::string& pass) {
  if (judged == nullptr) return nullptr;
  const auto found = std::ranges::find(judged->passes, pass, &PassVerdict::pass);
  return found == judged->passes.end() ? nullptr : &*found;
}

Json precision_json(const Judged* judged, const std::string& pass) {
  const std::optional<Precision> precision = judged == nullptr ? std::nullopt : precision_of(judged->records, pass);
  return precision ? to_json(*precision) : Json();
}

Json pass_json(const SampleFacts& facts, const Written& one, const Judged* judged) {
  const PassVerdict* verdict = verdict_of(judged, one.name);
  return {{"pass", one.name},
          {"operators", one.operators},
          {"kernels", one.kernels},
          {"library", one.calls},
          {"kept", verdict == nullptr ? Json() : Json(verdict->kept)},
          {"why", verdict == nullptr ? std::string() : valid_utf8(verdict->why)},
          {"ratio", verdict == nullptr || verdict->ratio <= 0 ? Json() : number_json(verdict->ratio)},
          {"declined", to_json(verdict == nullptr ? std::map<std::string, std::string>() : verdict->declined)},
          {"launches", {{"before", one.computing}, {"after", one.launches()}}},
          {"bytes", {{"before", one.bytes_before}, {"after", one.bytes_after}}},
          {"explained", to_json(one.explained)},
          {"precision", precision_json(judged, one.name)},
          {"roofline", found_or_null(facts.rooflines, one.name)},
          {"reach", found_or_null(facts.reaches, one.name)}};
}

/// Returns why a pass that is written for the graph leaves it alone; nullopt: it has nothing to do with that.
std::optional<std::string> why_not(const Written& pass, const std::string& graph, const PassVerdict* verdict) {
  if (verdict == nullptr) return std::nullopt;
  if (verdict->kept) {
    const auto declined = verdict->declined.find(graph);
    if (declined == verdict->declined.end()) return std::nullopt;
    return fmt::format("{} declines it: {}", pass.name, declined->second);
  }
  const auto slow = verdict->slow.find(graph);
  return slow == verdict->slow.end() ? fmt::format("{}: {}", pass.name, verdict->why)
                                     : fmt::format("{} is no faster: {}", pass.name, slow->second);
}

std::string why_nothing_was_written(const std::string& graph, const Authored& authored) {
  size_t count = 0;
  const NotWritten* first = nullptr;
  for (const NotWritten& one : authored.left) {
    if (std::ranges::find(one.graphs, graph) == one.graphs.end()) continue;
    if (first == nullptr) first = &one;
    ++count;
  }
  if (first == nullptr) return "nothing in it is computed";
  return fmt::format("no pass was written, {} operator{} left: {}: {}", count, count == 1 ? " was" : "s were",
                     first->statement, first->why);
}

void add(Precision& sum, const Json& one) {
  if (one.is_null()) return;
  sum.graphs += one["graphs"].get<size_t>();
  sum.error = std::max(sum.error, one["error"].get<double>());
  sum.of_eager = std::max(sum.of_eager, one["of_eager"].get<double>());
  sum.larger += one["larger"].get<size_t>();
  sum.factor = std::max(
      sum.factor, one["factor"].is_null() ? std::numeric_limits<double>::infinity() : one["factor"].get<double>());
}

/// Names of graphs and figures say nothing about a cause: "g1 is not right: 0.93x" is "… is not right: …x".
std::string cause_of(const std::string& why) {
  std::string cause;
  for (size_t at = 0; at < why.size();) {
    const size_t end = std::min(why.find(' ', at), why.size());
    const std::string word = why.substr(at, end - at);
    const bool varies = word.find('/') != std::string::npos ||
                        (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0);
    cause += (cause.empty() ? "" : " ") + (varies ? std::string("…") : word);
    at = end + 1;
  }
  return valid_utf8(cause.substr(0, kLongestCause));
}

}  // namespace

std::map<std::string, std::string> left_alone(const std::vector<std::string>& graphs, const Authored& authored,
                                              const Judged* judged) {
  std::map<std::string, std::string> reasons;
  for (const std::string& graph : graphs) {
    std::string why;
    bool is_alone = true;
    for (const Written& pass : authored.passes) {
      const auto& sites = pass.python.sites;
      if (std::ranges::none_of(sites, [&](const auto& site) { return site.first == graph; })) continue;
      const std::optional<std::string> one = why_not(pass, graph, verdict_of(judged, pass.name));
      is_alone = is_alone && one;
      if (one) why += (why.empty() ? "" : "; ") + *one;
      if (!one) break;
    }
    if (is_alone) reasons[graph] = why.empty() ? why_nothing_was_written(graph, authored) : why;
  }
  return reasons;
}

Json report_of(const SampleFacts& facts, const Authored& authored, const Judged* judged) {
  Json passes = Json::array(), left = Json::array(), other_forms = Json::array();
  for (const OtherForm& one : facts.other_forms)
    other_forms.push_back({{"form", one.label}, {"score", number_json(one.score)}});
  Json schedules = Json::array();
  for (const MeasuredSchedule& one : facts.schedules)
    schedules.push_back(
        {{"pass", one.pass}, {"schedule", one.label}, {"ratio", one.ratio > 0 ? number_json(one.ratio) : Json()}});
  for (const Written& one : authored.passes) passes.push_back(pass_json(facts, one, judged));
  for (const NotWritten& one : authored.left)
    left.push_back({{"statement", valid_utf8(one.statement)}, {"why", valid_utf8(one.why)}});
  Json unmeasured = Json::object();
  if (judged != nullptr) {
    for (const auto& [graph, why] : judged->unmeasured) unmeasured[valid_utf8(graph)] = valid_utf8(why);
  }
  Json budget;
  if (facts.budget_s > 0)
    budget = {{"seconds", number_json(facts.budget_s)}, {"ended", judged != nullptr && judged->ended_by_budget}};
  return {{"sample", valid_utf8(facts.sample)},
          {"score", judged == nullptr ? Json() : number_json(judged->score)},
          {"counts", judged == nullptr || judged->counts},
          {"seconds", number_json(facts.seconds)},
          {"budget", std::move(budget)},
          {"precision", precision_json(judged, {})},
          {"allow_library", facts.allow_library},
          {"only_form", facts.only_form.empty() ? Json() : Json(facts.only_form)},
          {"form", facts.form},
          {"other_forms", std::move(other_forms)},
          {"schedules", std::move(schedules)},
          {"passes", std::move(passes)},
          {"left", std::move(left)},
          {"parts", Json::array()},
          {"unmeasured", std::move(unmeasured)},
          {"alone", to_json(left_alone(facts.graphs, authored, judged))}};
}

AuthorSummary summary_of(const Json& reports) {
  AuthorSummary summary;
  std::map<std::string, size_t> causes;
  double logarithms = 0, seconds = 0;
  for (const Json& report : reports) {
    ++summary.samples;
    seconds += report["seconds"].get<double>();
    ++summary.forms[report["form"].get<std::string>()];
    summary.ended_by_budget += report["budget"].is_object() && report["budget"]["ended"].get<bool>() ? 1 : 0;
    size_t kept = 0;
    for (const Json& pass : report["passes"]) {
      ++summary.written;
      const bool stays = pass["kept"].is_null() || pass["kept"].get<bool>();
      kept += stays ? 1 : 0;
      summary.library += stays && !pass["library"].empty() ? 1 : 0;
      if (!stays) ++causes[cause_of(pass["why"].get<std::string>())];
    }
    for (const Json& left : report["left"]) ++causes["left: " + cause_of(left["why"].get<std::string>())];
    summary.kept += kept;
    summary.without_pass += kept == 0 ? 1 : 0;
    add(summary.precision, report["precision"]);
    if (report["score"].is_null()) continue;
    if (!report.value("counts", true)) {
      ++summary.uncounted;
      continue;
    }
    const auto score = report["score"].get<double>();
    ++summary.judged;
    summary.below_one += score < 1 ? 1 : 0;
    logarithms += std::log(score);
  }
  if (summary.judged > 0) summary.score = std::exp(logarithms / static_cast<double>(summary.judged));
  if (summary.samples > 0) summary.seconds_per_sample = seconds / static_cast<double>(summary.samples);
  summary.causes.assign(causes.begin(), causes.end());
  std::ranges::stable_sort(summary.causes, std::ranges::greater(), &std::pair<std::string, size_t>::second);
  return summary;
}

}  // namespace passnet::author
