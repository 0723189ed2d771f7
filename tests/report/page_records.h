// Records and sources of a page that shows all that a report can show.
#pragma once

#include <string>
#include <vector>

#include "report/sources.h"
#include "sample_records.h"

namespace passnet::report {

inline record::RunRecord of_sample(const char* sample, record::RunRecord record) {
  record.sample = sample;
  record.reference.blocks = record.candidate.blocks = std::vector<int>(20, 5);
  return record;
}

/// The records of one sample, and those of a second: a very fast graph, one without a difference, a disturbed one, a
/// fast one that is wrong; and of a third where all is well.
inline std::vector<record::RunRecord> page_records() {
  std::vector<record::RunRecord> records = sample_records();
  record::RunRecord disturbed = of_sample("phi3_swiglu", measured("b4_float32", 90, 33, -10, 0));
  disturbed.disturbed = true;
  disturbed.load = {true, 30, 24, 0.31, 0.02, 0.4, 120};
  record::RunRecord outlier = of_sample("phi3_swiglu", measured("b1_float16", 50, 49.8, -6, 4e-4));
  outlier.reference.trials_us[30] = 4000;
  records.push_back(of_sample("phi3_swiglu", measured("b1_float32", 2000, 40, -10, 0)));
  records.push_back(outlier);
  records.push_back(disturbed);
  records.push_back(of_sample("phi3_swiglu", measured("b4_float16", 300, 10, 6, 3)));
  records.push_back(of_sample("gpt2_gelu", measured("b1_float32", 30, 20, -10, 0)));
  records.push_back(of_sample("gpt2_gelu", measured("b1_bfloat16", 30, 10, -10, 0)));
  return records;
}

inline Sources page_sources() {
  Sources sources;
  SampleSources& sample = sources["gpt2_gelu"];
  sample.passes = {{"gelu.py", "def pattern(x):\n    return x < 1 & \"</pre><script>alert(3)</script>\"\n"},
                   {"gelu.cpp", "PASSNET_KERNEL gelu(const T* x) {}\n"}};
  const std::string before = "y = torch.nn.functional.gelu(x)\n";
  sample.graphs["b1_float32"] = {before, "y = passnet.fused(0, x)\n", "site 0, pass gelu\n"};
  sample.graphs["b1_bfloat16"] = {before, "y = passnet.fused(0, x)\n", "site 0, pass gelu, bfloat16\n"};
  return sources;
}

}  // namespace passnet::report
