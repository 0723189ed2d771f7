// What `passnet author` prints of its reports.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "author.h"
#include "author/report/report.h"
#include "base/text/strings.h"
#include "command.h"

namespace passnet::cli {

namespace {

constexpr size_t kMostCauses = 10;

void say_outside(const Json& outside, const char* verb, const char* open_end) {
  if (outside.is_null())
    say("    {}\n", open_end);
  else
    say("    {} at {}: {}\n", verb, plain_text(outside["statement"]), plain_text(outside["why"]));
}

std::string names_with(const Json& values, const char* place) {
  std::string names;
  for (const Json& one : values) {
    if (one["place"] == place) names += (names.empty() ? "" : ", ") + plain_text(one["value"]);
  }
  return names.empty() ? "none" : names;
}

std::string in_parts(int64_t parts) { return parts == 1 ? std::string("not") : fmt::format("into {}", parts); }

void say_kernel(const Json& kernel) {
  const auto row = kernel["row"].get<int64_t>();
  const bool shares = kernel["lanes"] == "row";
  if (const Json& product = kernel["product"]; !product.is_null()) {
    const auto blocks = product["blocks"].get<int64_t>();
    say("    {}: {} sums of {} products, in tiles; {} x {} of them for {} of a GPU\n", plain_text(kernel["kernel"]),
        kernel["items"].get<int64_t>(), product["steps"].get<int64_t>(), product["tile_rows"].get<int64_t>(),
        product["tile_columns"].get<int64_t>(), blocks == 1 ? "a block" : fmt::format("{} blocks", blocks));
    return;
  }
  say("    {}: {} item{}{}; {}{}\n", plain_text(kernel["kernel"]), kernel["items"].get<int64_t>(),
      kernel["items"] == 1 ? "" : "s", row > 1 ? fmt::format(" of {} elements", row) : "",
      shares ? fmt::format("lanes go along a row, {} threads of a GPU share it", kernel["threads"].get<int>())
             : std::string("lanes and threads take items of their own"),
      kernel["packs"].get<bool>() ? ", several neighbours at once" : "");
  if (kernel["tiles"].get<bool>()) say("      through tiles, read along one loop and written along another\n");
  const auto cpu = kernel["parts"]["cpu"].get<int64_t>(), gpu = kernel["parts"]["gpu"].get<int64_t>();
  if (cpu > 1 || gpu > 1)
    say("      rows are split: {} for tasks of a CPU, {} for a GPU\n", in_parts(cpu), in_parts(gpu));
}

void say_roofline(const Json& roofline) {
  if (roofline.is_null()) return;
  const auto bytes_us = roofline["bytes_us"].get<double>();
  std::string text =
      fmt::format("the bytes take {:.1f} us at {:.0f} GB/s", bytes_us, roofline["gb_per_s"].get<double>());
  if (!roofline["launches_us"].is_null())
    text += fmt::format(", a call of as many empty launches {:.1f} us", roofline["launches_us"].get<double>());
  if (!roofline["measured_us"].is_null()) {
    const auto measured = roofline["measured_us"].get<double>();
    text += fmt::format("; measured {:.1f} us, {:.0f} % of what a copy reaches", measured, 100 * bytes_us / measured);
  }
  say("    {}\n", text);
}

void say_precision(const Json& precision, const char* indent) {
  if (precision.is_null()) return;
  const auto graphs = precision["graphs"].get<size_t>(), larger = precision["larger"].get<size_t>();
  say("{}largest error against float64 {:.2g}, PyTorch's own {:.2g}", indent, precision["error"].get<double>(),
      precision["of_eager"].get<double>());
  if (larger == 0)
    say("; larger than PyTorch's in none of {}\n", counted(graphs, "graph"));
  else
    say("; larger than PyTorch's in {} of {}, {}\n", larger, counted(graphs, "graph"),
        precision["factor"].is_null() ? std::string("where that makes none")
                                      : fmt::format("by {:.2f}x at most", precision["factor"].get<double>()));
}

void say_explained(const Json& pass) {
  const Json& explained = pass["explained"];
  for (const Json& one : explained["operators"]) say("    {}\n", plain_text(one));
  say_outside(explained["before"], "begins", "begins at inputs of the graph");
  say_outside(explained["after"], "ends", "ends with results of the graph");
  const Json& values = explained["values"];
  say("    stored: {}; in registers: {}; computed again: {}\n", names_with(values, "stored"),
      names_with(values, "registers"), names_with(values, "recomputed"));
  for (const Json& one : explained["called"])
    say("    calls {}{}: {}\n", plain_text(one["statement"]),
        one["measured"].get<bool>() ? ", by an algorithm of cuDNN's that is measured" : "", plain_text(one["why"]));
  for (const Json& kernel : explained["kernels"]) say_kernel(kernel);
  const Json &launches = pass["launches"], &bytes = pass["bytes"];
  say("    launches {} -> {}, bytes read and written {} -> {} ({:.2f} of them)\n", launches["before"].get<size_t>(),
      launches["after"].get<size_t>(), bytes_text(bytes["before"].get<double>()),
      bytes_text(bytes["after"].get<double>()),
      bytes["after"].get<double>() / std::max(bytes["before"].get<double>(), 1.0));
  say_precision(pass["precision"], "    ");
  say_roofline(pass["roofline"]);
}

void say_reach(const Json& reach) {
  if (reach.is_null()) return;
  const auto number = [&](const char* key) { return reach[key].get<size_t>(); };
  say("    reach: matches in {} of {}", number("matching"), counted(number("graphs"), "other graph"));
  if (number("evaluated") > 0)
    say("; of {} evaluated {} right, {} faster, {} declined", number("evaluated"), number("right"), number("faster"),
        number("declined"));
  say("\n");
}

/// Each operator that no pass takes; counts by reason for large graphs.
void say_left(const Json& report) {
  std::map<std::string, size_t> counts;
  for (const Json& left : report["left"]) {
    if (report["parts"].empty()) say("  left: {}: {}\n", plain_text(left["statement"]), plain_text(left["why"]));
    ++counts[plain_text(left["why"])];
  }
  if (report["parts"].empty()) return;
  for (const auto& [why, count] : counts) say("  left: {}: {}\n", counted(count, "operator"), why);
}

}  // namespace

void say_report(const Json& report, bool explain) {
  const std::string score = report["score"].is_null() ? "not judged"
                            : !report.value("counts", true)
                                ? "in no score"
                                : fmt::format("score {:.3f}", report["score"].get<double>());
  say("{}: {}\n", plain_text(report["sample"]), score);
  if (report["budget"].is_object() && report["budget"]["ended"].get<bool>())
    say("  the budget of {:g} s ended the search\n", report["budget"]["seconds"].get<double>());
  if (!report["parts"].empty()) {
    size_t places = 0;
    for (const Json& one : report["parts"]) places += one["places"].get<size_t>();
    say("  {} in {}, {:.0f} s\n", counted(report["parts"].size(), "part"), counted(places, "place"),
        report["seconds"].get<double>());
  }
  if (!report["other_forms"].empty()) {
    std::string others;
    for (const Json& one : report["other_forms"])
      others +=
          fmt::format("{}{} {:.3f}", others.empty() ? "" : ", ", plain_text(one["form"]), one["score"].get<double>());
    say("  form: {} (others: {})\n", plain_text(report["form"]), others);
  }
  for (const Json& one : report["schedules"]) {
    const std::string ratio =
        one["ratio"].is_null() ? std::string("not right") : fmt::format("{:.2f}x", one["ratio"].get<double>());
    say("  schedule of {}: {}, {}\n", plain_text(one["pass"]), plain_text(one["schedule"]), ratio);
  }
  for (const Json& pass : report["passes"]) {
    const char* verdict = pass["kept"].is_null() ? "written" : pass["kept"].get<bool>() ? "kept" : "not kept";
    const size_t calls = pass["library"].size();
    say("  {}{}: {} in {}{}, {}{}\n", plain_text(pass["pass"]), calls > 0 ? " (library)" : "",
        counted(pass["operators"].get<size_t>(), "operator"), counted(pass["kernels"].get<size_t>(), "kernel"),
        calls > 0 ? fmt::format(" and {} of PyTorch", counted(calls, "call")) : "", verdict,
        plain_text(pass["why"]).empty() ? "" : ": " + plain_text(pass["why"]));
    if (explain) say_explained(pass);
    say_reach(pass["reach"]);
    for (const auto& [graph, why] : pass["declined"].items())
      say("    declines {}: {}\n", plain_text(graph), plain_text(why));
  }
  for (const auto& [graph, why] : report["unmeasured"].items())
    say("  undecided {}: it could not be measured: {}\n", plain_text(graph), plain_text(why));
  say_left(report);
}

void say_summary(const Json& reports, int at_a_time) {
  const author::AuthorSummary summary = author::summary_of(reports);
  say("\n{}, {} without a pass; {} of {} written passes kept; {:.1f} s a sample{}\n",
      counted(summary.samples, "sample"), summary.without_pass, summary.kept, summary.written,
      summary.seconds_per_sample, at_a_time > 1 ? fmt::format(", {} at a time", at_a_time) : "");
  if (summary.library > 0) say("{} of those kept call PyTorch (library)\n", summary.library);
  if (summary.judged > 0)
    say("score {:.3f} (geometric mean of {}; 1 = eager), {} below 1\n", summary.score,
        counted(summary.judged, "sample"), summary.below_one);
  if (summary.uncounted > 0)
    say("{} in no score: answers that take no work would pass on all of their graphs\n",
        counted(summary.uncounted, "sample"));
  if (summary.precision.graphs > 0) say_precision(author::to_json(summary.precision), "");
  if (summary.forms.size() > 1) {
    std::string forms;
    for (const auto& [form, samples] : summary.forms)
      forms += fmt::format("{}{} {}", forms.empty() ? "" : ", ", samples, plain_text(form));
    say("forms: {}\n", forms);
  }
  if (summary.ended_by_budget > 0)
    say("the budget ended the search of {}\n", counted(summary.ended_by_budget, "sample"));
  if (summary.causes.empty()) return;
  say("why passes were not kept, and operators left:\n");
  for (size_t i = 0; i < std::min(summary.causes.size(), kMostCauses); ++i)
    say("{:>6}  {}\n", summary.causes[i].second, summary.causes[i].first);
  if (summary.causes.size() > kMostCauses) say("        and {} more\n", summary.causes.size() - kMostCauses);
}

}  // namespace passnet::cli
