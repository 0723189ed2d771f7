// Writes runs that the tests of `passnet store` and `passnet site` read: `write_runs DIRECTORY`.
#include <cstdio>
#include <cstdlib>
#include <map>

#include "base/file/file.h"
#include "page_records.h"
#include "record/graph_texts.h"

namespace passnet {
namespace {

namespace fs = std::filesystem;
using record::RunRecord;

/// Names of directories that are markup.
constexpr const char* kMarkup = "<img src=x onerror=\"hostile=1\">'&";

constexpr const char* kModel =
    "import torch\n\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, x: torch.Tensor, y: torch.Tensor):\n"
    "        # one branch and its sum\n        gelu = torch.nn.functional.gelu(x, approximate='tanh');  x = None\n"
    "        scaled = gelu * 0.5\n        total = scaled + y;  scaled = y = None\n        turned = total.view(-1)\n"
    "        return (turned, gelu)\n";
constexpr const char* kPass =
    "import torch\n\n\ndef pattern(x, y):\n    \"\"\"</pre><script>hostile=1</script>\"\"\"\n    return x + y  # a "
    "sum\n";
constexpr const char* kKernel =
    "#include \"passnet/cpu.h\"\n\nPASSNET_KERNEL void add(const float* x, const float* y, float* out, int64_t n) {\n"
    "  // each element once\n  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + 1.5f * y[i];\n}\n";

void write(const fs::path& path, std::string_view text) {
  if (!write_file(path, text)) std::abort();
}

void write_run(const fs::path& run, std::vector<RunRecord> records, double factor) {
  std::map<std::string, std::vector<RunRecord>> samples;
  for (RunRecord& record : records) {
    for (double& us : record.candidate.trials_us) us *= factor;
    record.floor = record::Floor{.bytes = 100000, .gb_per_s = 10, .us = 2};
    // Those of another sample are of an older version.
    if (record.sample != "llama_rotary") record.floor->arithmetic = {{"float32", 1e6, 100}};
    if (record.sample == "phi3_swiglu") record.floor->arithmetic->front().operations = 2e6;
    samples[record.sample].push_back(record);
  }
  for (const auto& [sample, of_sample] : samples) {
    write(run / sample / "records.jsonl", record::to_lines(of_sample));
    write(run / record::passes_directory(sample) / "add.py", kPass);
    write(run / record::passes_directory(sample) / "add.cpp", kKernel);
    for (const RunRecord& record : of_sample)
      write(run / record::graph_texts_directory(sample, record.graph) / record::kBeforeFile, kModel);
  }
}

/// Two element types of four samples, so that there is something to choose, and an interval over tasks.
std::vector<RunRecord> plain_records(const char* started) {
  std::vector<RunRecord> records;
  for (const char* sample : {"llama_rotary", "phi3_swiglu", "resnet_batch_norm_add_relu", "gpt2_gelu"}) {
    for (const char* dtype : {"float32", "float16"}) {
      records.push_back(report::of_sample(sample, report::measured(std::string("b1_") + dtype, 60, 24, -6, 1e-6)));
      records.back().outputs[0].expected_dtype = records.back().outputs[0].found_dtype = dtype;
      records.back().started = started;
      records.back().kind = std::string_view(sample) == "gpt2_gelu" ? "sole_op" : "fusible";
    }
  }
  return records;
}

}  // namespace
}  // namespace passnet

int main(int argc, char** argv) {
  using namespace passnet;
  if (argc != 2) {
    std::fputs("usage: write_runs DIRECTORY\n", stderr);
    return 2;
  }
  const fs::path root = argv[1];
  write_run(root / "author", plain_records("2026-01-02T00:00:00Z"), 1);
  write_run(root / "a-model-with-a_long-name-v2.5-instruct", plain_records("2026-01-03T00:00:00Z"), 1.25);
  std::vector<RunRecord> all = report::page_records();
  for (RunRecord& record : all) record.started = "2026-01-04T00:00:00Z";
  for (const std::string& name : {std::string(kMarkup), std::string(200, 'n')}) {
    all.push_back(report::of_sample(name.c_str(), report::measured(name, 60, 20, -6, 1)));
    all.back().hardware = kMarkup;
  }
  write_run(root / kMarkup, all, 1);
  return 0;
}
