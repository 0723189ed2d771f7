#include "report/facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace passnet::report {

namespace {

bool is_plain(const Json& value) { return !value.is_object() && !value.is_array(); }

void add_facts(const std::string& name, const Json& value, Facts& facts) {
  if (value.is_null() || (value.is_string() && value.get_ref<const std::string&>().empty())) return;
  if (is_plain(value)) {
    facts.emplace_back(name, plain_text(value));
  } else if (value.is_array() && std::all_of(value.begin(), value.end(), is_plain)) {
    std::vector<std::string> texts;
    for (const Json& one : value) texts.push_back(plain_text(one));
    if (!texts.empty()) facts.emplace_back(name, fmt::format("{}", fmt::join(texts, ", ")));
  } else {
    for (const auto& [key, inner] : value.items()) {
      add_facts(name.empty() ? key : name + "." + key, inner, facts);
    }
  }
}

}  // namespace

Facts facts_of(const Json& object) {
  Facts facts;
  add_facts("", object, facts);
  return facts;
}

Facts facts_of(const record::RunRecord& record) {
  Json json{{"compiler", record.compiler}, {"device", record.device}, {"hardware", record.hardware},
            {"threads", record.threads},   {"seed", record.seed},     {"started", record.started}};
  if (!record.reference.trials_us.empty()) {
    json["warm-up calls"] = record.reference.warmup;
    json["timed calls"] = record.reference.trials_us.size();
    json["timed with"] = record::describe(record.reference.track);
    json["recorded calls"] = record.candidate.mode;
    if (record.candidate.sm_mhz > 0) json["GPU clock"] = fmt::format("{} MHz", record.candidate.sm_mhz);
    if (record.candidate.temperature_c > 0)
      json["GPU temperature"] = fmt::format("{} °C", record.candidate.temperature_c);
  }
  if (record.provenance) json.update(record::to_json(record).at("provenance"));
  json["seconds in all"] = fmt::format("{:.2f}", record.evaluate_seconds);
  return facts_of(json);
}

Facts take_common(std::vector<Facts>& lists) {
  struct Uses {
    std::string value;
    size_t count = 0;
    bool agree = true;
  };
  std::map<std::string, Uses> uses;
  std::vector<std::string> names;  // in the order of their first use
  for (const Facts& facts : lists) {
    for (const auto& [name, value] : facts) {
      const auto [place, is_new] = uses.try_emplace(name, Uses{value});
      if (is_new) names.push_back(name);
      ++place->second.count;
      place->second.agree = place->second.agree && place->second.value == value;
    }
  }
  const auto is_common = [&](const std::string& name) {
    const Uses& use = uses.at(name);
    return use.agree && (use.count > 1 || lists.size() == 1);
  };
  Facts common;
  for (const std::string& name : names) {
    if (is_common(name)) common.emplace_back(name, uses.at(name).value);
  }
  for (Facts& facts : lists) std::erase_if(facts, [&](const Fact& fact) { return is_common(fact.first); });
  return common;
}

std::string load_text(const record::Load& load) {
  if (load.block_pairs == 0) return {};
  std::string text = fmt::format("{} of {} pairs of blocks dropped", load.dropped_pairs, load.block_pairs);
  if (!load.known) text += " (this system does not tell how long threads wait)";
  return text +
         fmt::format(
             "; these included, threads waited {:.1f} % of the time for a processor, the host took {:.1f} %, the "
             "machine was under pressure {:.1f} %, {} involuntary switches",
             100 * load.waiting_share, 100 * load.stolen_share, 100 * load.pressure_share, load.involuntary_switches);
}

}  // namespace passnet::report
