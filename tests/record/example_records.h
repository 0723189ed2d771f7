// Records for tests: the worked example of docs/scoring.md and random ones.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "record/record.h"

namespace passnet::record {

inline OutputCheck output_of(const std::string& dtype, int passes_from) {
  OutputCheck output;
  output.expected_dtype = output.found_dtype = dtype;
  output.expected_shape = output.found_shape = {2, 3};
  output.passes_from = passes_from;
  output.equal = passes_from == -10;
  output.max_abs_diff = output.equal ? 0 : 0.25;
  output.mean_abs_diff = output.equal ? 0 : 0.125;
  return output;
}

/// Done and compared; the reference takes 12 us, the candidate 12 / speedup.
inline RunRecord record_of(const std::string& graph, double speedup, std::vector<OutputCheck> outputs) {
  RunRecord record;
  record.sample = "worked";
  record.graph = graph;
  record.hardware = "a processor x 2 threads";
  record.seed = 1024;
  record.started = "2026-01-02T03:04:05Z";
  record.stage = Stage::Done;
  record.threads = 2;
  record.passes = {{"fuse", 1, 0, ""}};
  record.outputs_counted = true;
  record.expected_outputs = record.found_outputs = static_cast<int>(outputs.size());
  record.outputs = std::move(outputs);
  record.reference = {25, {12, 12, 12}};
  record.candidate = {25, {12 / speedup, 12 / speedup, 12 / speedup}};
  record.reference.blocks = record.candidate.blocks = {2, 1};
  record.load = {true, 25, 5, 0.02, 0.001, 0.3, 17};
  record.control = Control{record.reference, record.candidate, false};
  record.profile = Profile{11.5, {{"fuse", "fuse_kernel", 12, 0, 4.5, 4096, 1.25}}, {{"tmp = x.t()", 0.5}}};
  record.second_candidate = SecondCandidate{"torch.compile", "", -6, record.reference, record.candidate, false};
  record.evaluate_seconds = 0.5;
  return record;
}

inline RunRecord failed_record(const std::string& graph, Stage stage, const std::string& kind,
                               const std::string& error) {
  RunRecord record = record_of(graph, 1, {});
  record.stage = stage;
  record.error_kind = kind;
  record.error = error;
  record.outputs_counted = false;
  record.reference = record.candidate = {};
  return record;
}

/// The eight samples of the worked example: two wrong only beyond some rung, one per way to fail, one right
/// everywhere.
inline std::vector<RunRecord> worked_example() {
  OutputCheck other_dtype = output_of("float32", 6);
  other_dtype.found_dtype = "float16";
  RunRecord stopped = record_of("s7", 3, {output_of("float32", -10)});
  stopped.stage = Stage::Time;
  stopped.error_kind = "crash";
  stopped.error = "x";
  return {
      record_of("s1", 2, {output_of("float32", -6)}),
      record_of("s2", 0.5, {output_of("float16", -3)}),
      record_of("s3", 1.5, {output_of("float32", 2), output_of("int64", -10)}),
      failed_record("s4", Stage::Reference, "unsupported", "unknown operator"),
      failed_record("s5", Stage::Build, "bad-pass", "kernel does not compile"),
      record_of("s6", 1.25, {other_dtype}),
      stopped,
      record_of("s8", 1, {output_of("bfloat16", -10)}),
  };
}

/// Any record that an evaluation could write, hostile names and texts included; no nan (it would differ from
/// itself). A line a field.
inline rc::Gen<RunRecord> any_record() {
  return rc::gen::exec([] {
    const auto text = [] {
      return *rc::gen::element<std::string>("", "plain", "two\nlines", "\"quoted\" \\ tab\t", "µ ünïcode ∑",
                                            "[Speedup][e2e]: 99", "<b>&amp;</b>", "all_close", "RuntimeError: no",
                                            "\x1b[31mred", "match:True");
    };
    const auto number = [] { return *rc::gen::inRange(0, 1'000'000) / 997.0; };
    RunRecord record;
    record.sample = text();
    record.graph = text();
    record.compiler = text();
    record.device = text();
    record.hardware = text();
    record.threads = *rc::gen::inRange(1, 64);
    record.seed = *rc::gen::arbitrary<uint64_t>();
    record.started = text();
    record.stage = static_cast<Stage>(*rc::gen::inRange(0, 10));
    record.error_kind = *rc::gen::element<std::string>("", "", "no-match", "crash", "timeout");
    record.error = text();
    for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
      record.passes.push_back({text(), *rc::gen::inRange(0, 5), *rc::gen::inRange(0, 5), text()});
      if (*rc::gen::arbitrary<bool>()) continue;
      record.passes.back().library_calls = {{text(), *rc::gen::inRange(0, 99), *rc::gen::inRange(1, 9)}};
      record.passes.back().replays = *rc::gen::inRange(0, 2);
    }
    record.outputs_counted = *rc::gen::inRange(0, 8) > 0;
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
      OutputCheck output = output_of(*rc::gen::element<std::string>("float32", "float16", "bfloat16", "float64"),
                                     *rc::gen::inRange(-10, 7));
      if (*rc::gen::inRange(0, 8) == 0) output.found_dtype = "int64";
      if (*rc::gen::inRange(0, 8) == 0) output.found_shape = {7};
      output.max_abs_diff = number();
      output.mean_abs_diff = number();
      output.max_rel_diff = number();
      if (*rc::gen::inRange(0, 8) == 0) output.checked_from = *rc::gen::inRange(-10, 7);
      if (*rc::gen::arbitrary<bool>())
        output.mismatch =
            Mismatch{*rc::gen::inRange(0, 9), 5, {0, 2}, text(), text(), text(), 1, *rc::gen::inRange(0, 9), 3, 4};
      record.outputs.push_back(output);
    }
    record.expected_outputs = static_cast<int>(record.outputs.size());
    record.found_outputs = record.expected_outputs - (*rc::gen::inRange(0, 8) == 0 ? 1 : 0);
    record.deterministic = *rc::gen::inRange(0, 8) > 0;
    for (Timing* side : {&record.reference, &record.candidate}) {
      side->warmup = *rc::gen::inRange(0, 30);
      for (int i = *rc::gen::inRange(0, 6); i > 0; --i) side->trials_us.push_back(number());
      if (*rc::gen::arbitrary<bool>()) {
        side->track = {"host", "fresh", "warm"};
        side->mode = "graph";
        side->others = {{{"device", "fresh", "flushed"}, {number(), number()}}, {{"host", "same", "warm"}, {}}};
        side->sm_mhz = *rc::gen::inRange(0, 3000);
        side->temperature_c = *rc::gen::inRange(0, 100);
      }
    }
    record.evaluate_seconds = number();
    if (*rc::gen::arbitrary<bool>()) {
      record.provenance = Provenance{text(),
                                     {{"model.py", text()}, {text(), "x"}},
                                     {{text(), text()}},
                                     {},
                                     {{text(), text()}},
                                     text(),
                                     {},
                                     {{"torch", text()}},
                                     std::nullopt};
      record.chain = Link{*rc::gen::inRange<int64_t>(1, 99), text()};
      record.seed_given = *rc::gen::arbitrary<bool>();
      record.seed_nonce = text();
      record.provenance->options = {{text(), text(), *rc::gen::inRange(1, 64), *rc::gen::arbitrary<uint64_t>(), 25,
                                     *rc::gen::inRange(0, 1000), number(), *rc::gen::arbitrary<bool>()},
                                    text()};
      record.reference_memory = {*rc::gen::inRange<int64_t>(0, int64_t{1} << 40), *rc::gen::inRange<int64_t>(0, 1000)};
      record.candidate_memory = {*rc::gen::inRange<int64_t>(0, int64_t{1} << 40), *rc::gen::inRange<int64_t>(0, 1000)};
      record.retried = text();
    }
    return record;
  });
}

}  // namespace passnet::record
