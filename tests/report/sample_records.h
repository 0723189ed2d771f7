// Records of a make-believe run that shows everything a report can show: fast, slow, noisy, inexact and wrong
// graphs, declined sites, no match, two equal compiler errors, a crash, and a name that would like to be
// markup.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "record/record.h"

namespace passnet::report {

inline constexpr const char* kHostileName = "<script>alert(\"1\")</script> & |x|\x1b[2J";

inline record::RunRecord measured(const std::string& graph, double before_us, double after_us, int passes_from,
                                  double max_diff) {
  record::RunRecord record;
  record.sample = "residual_layer_norm";
  record.graph = graph;
  record.hardware = "Example CPU @ 2.40GHz x 2 threads, torch 2.11.0";
  record.threads = 2;
  record.seed = 1024;
  record.started = "2026-01-02T03:04:05Z";
  record.stage = record::Stage::Done;
  record.passes = {{"add_layer_norm", 1, 0, ""}};
  record::OutputCheck output;
  output.expected_dtype = output.found_dtype = "float32";
  output.expected_shape = output.found_shape = {8, 197, 768};
  output.passes_from = passes_from;
  output.equal = max_diff == 0;
  output.max_abs_diff = max_diff;
  output.mean_abs_diff = max_diff / 16;
  output.max_rel_diff = max_diff;
  record.outputs = {output};
  record.outputs_counted = true;
  record.expected_outputs = record.found_outputs = 1;
  record.reference.warmup = record.candidate.warmup = 25;
  for (int i = 0; i < 100; ++i) {
    const double spread = 1 + 0.04 * std::sin(i * 1.7) + (i % 25 == 24 ? 0.4 : 0);
    record.reference.trials_us.push_back(before_us * spread);
    record.candidate.trials_us.push_back(after_us * spread);
  }
  record.evaluate_seconds = 0.1;
  return record;
}

inline record::RunRecord failed(const std::string& graph, record::Stage stage, const std::string& kind,
                                const std::string& error) {
  record::RunRecord record = measured(graph, 1, 1, 6, 0);
  record.stage = stage;
  record.error_kind = kind;
  record.error = error;
  record.passes.clear();
  record.outputs.clear();
  record.outputs_counted = false;
  record.expected_outputs = record.found_outputs = 0;
  record.reference = record.candidate = {};
  return record;
}

inline std::vector<record::RunRecord> sample_records() {
  const std::string compiler_error =
      "add_layer_norm.cpp:14:23: error: 'rsqrtt' was not declared in this scope; did you mean 'rsqrt'?\n"
      "   14 |   const float scale = rsqrtt(variance + eps);\n"
      "      |                       ^~~~~~\n"
      "      |                       rsqrt";
  record::RunRecord noisy = measured("vit_base_patch16_224/float16/8x197x768", 412.8, 96.3, -5, 9.77e-4);
  for (size_t i = 0; i < 100; ++i) noisy.candidate.trials_us[i] *= i % 3 == 0 ? 1.5 : 1;
  record::RunRecord declined = measured("vit_base_patch16_224/float32/non_contiguous", 180.4, 179.9, -10, 0);
  declined.passes = {{"add_layer_norm", 0, 2, "declined: x is not contiguous"}};
  record::RunRecord wrong_shape = measured("deit_tiny/float32/1x197x192", 40.2, 12.9, 6, NAN);
  wrong_shape.outputs[0].found_shape = {1, 192, 197};
  record::RunRecord wrong = measured("beit/float32/1x197x768", 77.7, 20.2, 6, 12.5);
  wrong.outputs[0].mismatch = {12608, 12610, {0, 0, 760}, "-1.25", "nan", "columns 760 to 767 of 768 (the last 8)",
                               0,     3,     0,           0};
  return {
      measured("vit_base_patch16_224/float32/8x197x768", 1412.6, 402.3, -6, 4.77e-7),
      noisy,
      measured("vit_base_patch16_224/bfloat16/8x197x768", 398.1, 101.7, -10, 0),
      declined,
      measured("swin_tiny/float32/1x56x56x96", 55.1, 68.7, -7, 1.2e-7),
      measured("swin_tiny/float16/1x56x56x96", 61.0, 30.2, -3, 0.0031),
      wrong,
      wrong_shape,
      failed("mixer_b16/float32/1x196x768", record::Stage::Match, "no-match",
             "no pass matched this graph\npass 'add_layer_norm': nearest miss at line 3 of the pattern\n  "
             "pattern  "
             "tmp = x + y\n  graph    model.py:9: tmp_3 = in_0 * in_1\n  found operator '*', expected '+'"),
      failed("gmlp_s16/float32/1x196x256", record::Stage::Build, "bad-pass", compiler_error),
      failed("gmlp_s16/float16/1x196x256", record::Stage::Build, "bad-pass", compiler_error),
      failed(kHostileName, record::Stage::Run, "crash",
             "worker died of signal 11 (segmentation fault) </pre><script>alert(2)</script>"),
  };
}

}  // namespace passnet::report
