// Prints what report_page_test.py examines: `report_page html` the page, `report_page json` the same records
// as JSON; `report_page many` a page of 2,000 graphs.
#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "page_records.h"
#include "record/score/score.h"
#include "report/html/page.h"
#include "report/json.h"

namespace passnet::report {
namespace {

/// As many graphs, with as many trials and sources, as a run over a whole benchmark has.
std::string many_graphs() {
  std::vector<record::RunRecord> records;
  Sources sources;
  std::string body;
  for (int line = 0; line < 120; ++line)
    body += fmt::format("    tmp_{0} = torch.nn.functional.relu(tmp_{0}, inplace=False)\n", line);
  for (int i = 0; i < 2000; ++i) {
    const std::string sample = fmt::format("layer_norm_gelu_{}", i / 10), graph = fmt::format("{}_float32", i % 10);
    const double ratio = std::exp2(std::sin(i * 0.37) * 2.5);
    record::RunRecord record = of_sample(sample.c_str(), measured(graph, 100, 100 / ratio, i % 50 == 7 ? 6 : -10, 0));
    for (size_t trial = 0; trial < 100; ++trial)
      record.candidate.trials_us[trial] *= 1 + 0.05 * std::sin(static_cast<double>(trial) * (i + 1));
    records.push_back(std::move(record));
    sources[sample].passes = {{"fused.py", fmt::format("# {}\n", i / 10) + body}};
    sources[sample].graphs[graph] = {fmt::format("# {}\n", i / 3) + body, fmt::format("# after {}\n", i / 3),
                                     fmt::format("site 0, grid {}\n", i)};
  }
  return render_html(records, record::score(record::judge_all(records)), "2,000 graphs", sources);
}

}  // namespace
}  // namespace passnet::report

int main(int argc, char** argv) {
  using namespace passnet;
  const std::vector<record::RunRecord> records = report::page_records();
  const record::Score score = record::score(record::judge_all(records));
  const std::string_view what = argc > 1 ? argv[1] : "";
  std::string text;
  if (what == "html") {
    text = report::render_html(records, score, "a <title> & \"more\"", report::page_sources());
  } else if (what == "json") {
    text = report::render_json(records, score);
  } else if (what == "many") {
    text = report::many_graphs();
  } else {
    std::fputs("usage: report_page html|json|many\n", stderr);
    return 2;
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}
