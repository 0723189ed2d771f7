// passnet doctor --calibrate: how fast this machine copies and multiplies, and what handing work to a kernel takes.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/file/temporary_directory.h"
#include "doctor/doctor.h"
#include "fx/syntax/parser.h"
#include "options.h"
#include "pass/kernel/build.h"
#include "pass/plan/launch_list.h"
#include "print.h"
#include "record/stats.h"
#include "run/batch/slots.h"
#include "run/evaluate/evaluate.h"
#include "run/measure/calibration.h"
#include "run/worker/ask.h"
#include "run/worker/requests.h"
#include "wire/bundle.h"

namespace passnet::cli {

namespace {

using Mark = Finding::Mark;
using namespace std::chrono_literals;

constexpr auto kAnswer = 60s;
constexpr int kCalls = 500;
constexpr int64_t kElements = 64;  // and threads of a GPU
constexpr size_t kFurther = 255;   // launches: on a CPU one takes less than a clock tells

constexpr const char* kModel =
    "import torch\nimport passnet\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, x):\n"
    "        t = passnet.fused(0, x)\n        y = t[0]\n        return (y,)\n";
constexpr const char* kCudaKernel =
    "#include <passnet/kernel.h>\n"
    "PASSNET_KERNEL copied(const float* x, float* out, int64_t n) {\n"
    "  const int64_t i = passnet::global_index();\n"
    "  if (i < n) out[i] = x[i];\n"
    "}\n";
constexpr const char* kKernel =
    "#include <passnet/kernel.h>\n"
    "PASSNET_KERNEL copied(const float* x, float* out, int64_t n) {\n"
    "  const auto [first, last] = passnet::chunk(n);\n"
    "  for (int64_t i = first; i < last; ++i) out[i] = x[i];\n"
    "}\n";

pass::LaunchList launches(size_t count) {
  const ir::TensorType type = ir::contiguous(ir::DType::Float32, {kElements});
  pass::LaunchList list;
  list.pass = "calibration";
  list.buffers = {{0, type, std::nullopt}, {-1, type, std::nullopt}};
  pass::Launch launch;
  launch.kernel = "copied";
  launch.grid = {1};
  launch.block = kElements;
  launch.args = {pass::View{0, 0, type}, pass::View{1, 0, type}, kElements};
  list.launches.assign(count, launch);
  list.outputs = {pass::View{1, 0, type}};
  return list;
}

Result<run::Bundle> one_input() {
  run::Bundle bundle;
  wire::Entry entry{"x", ir::DType::Float32, {kElements}, 0};
  bundle.size_bytes = entry.size_bytes();
  bundle.entries = {std::move(entry)};
  PASSNET_TRY(bundle.fd, wire::create_memory("calibration", bundle.size_bytes));
  return bundle;
}

Result<pass::BuiltKernel> build_copied(const std::string& architecture) {
  PASSNET_TRY(const TemporaryDirectory scratch, TemporaryDirectory::make("passnet_calibrate_"));
  const bool on_gpu = !architecture.empty();
  const std::filesystem::path source = scratch.path() / (on_gpu ? "calibration.cu" : "calibration.cpp");
  PASSNET_TRY_VOID(write_file(source, on_gpu ? kCudaKernel : kKernel));
  return pass::build_kernel({source, "copied", {}, on_gpu ? kElements : 1, architecture}, {});
}

/// Median us of a call that does nothing but have a kernel copy kElements numbers, so often: handing it over and waiting
/// for it.
Result<double> call_us(run::Worker& candidate, const pass::BuiltKernel& kernel, size_t count) {
  PASSNET_TRY(const ir::Graph graph, fx::parse_model("calibration.py", std::make_shared<const std::string>(kModel)));
  PASSNET_TRY(const run::Bundle input, one_input());
  PASSNET_TRY_VOID(
      run::load_graph(candidate, "calibration", graph, {launches(count)}, {std::vector(count, kernel)}, kAnswer));
  PASSNET_TRY_VOID(run::set_inputs(candidate, "calibration", input, kAnswer));
  PASSNET_TRY_VOID(run::run_graph(candidate, "calibration", true, kAnswer));
  PASSNET_TRY(const protocol::Answer<protocol::Time> answer,
              run::ask(candidate, protocol::Time{"calibration", kCalls}, kAnswer));
  return record::summarize(answer.reply.times_us).median;
}

/// Sets what calls and launches take. architecture: of the GPU; empty: on the CPU.
Result<void> measure_launches(const run::WorkerOptions& like, const std::string& architecture,
                              run::Calibration& measured) {
  run::WorkerOptions options = like;
  options.role = run::Role::Candidate;
  run::Worker candidate(std::move(options));
  PASSNET_TRY_VOID(candidate.start());
  PASSNET_TRY(const pass::BuiltKernel kernel, build_copied(architecture));
  PASSNET_TRY(measured.call_us, call_us(candidate, kernel, 1));
  PASSNET_TRY(const double longer_us, call_us(candidate, kernel, 1 + kFurther));
  measured.launch_us = std::max(longer_us - measured.call_us, 0.0) / static_cast<double>(kFurther);
  return {};
}

Result<std::string> calibrate(int threads, const run::EvaluateOptions& like) {
  const std::optional<int> gpu = like.gpu;
  run::EvaluateOptions needed = like;
  needed.threads = threads;
  PASSNET_TRY(const run::MachineLease lease, run::take_for_slots(needed, {}, run::waiting_of(like, say_waiting)));
  run::WorkerOptions options;
  options.threads = threads > 0 ? threads : run::available_threads();
  options.gpu = gpu;
  if (!gpu) options.processors = lease.held("processor");
  run::Worker reference(options);
  PASSNET_TRY_VOID(reference.start());
  PASSNET_TRY(const run::Hello hello, run::start_up(reference));
  PASSNET_TRY(run::Calibration measured, run::calibrate(reference, hello.hardware, options.threads, kAnswer));
  if (!gpu) measured.caches = run::cache_sizes();
  // Copies are what evaluations are held against: they are kept whatever becomes of the rest.
  PASSNET_TRY_VOID(run::store_calibration(measured));
  reference.stop();
  PASSNET_TRY_VOID(measure_launches(options, hello.architecture, measured));
  PASSNET_TRY_VOID(run::store_calibration(measured));
  std::string found =
      fmt::format("{}: copies {}; a call of one small kernel takes {:.1f} us, each further launch {:.2f} us",
                  hello.hardware, run::describe(measured), measured.call_us, measured.launch_us);
  for (const run::CacheSize& one : measured.caches) found += fmt::format("; L{} {} KiB", one.level, one.bytes >> 10);
  return found + fmt::format("; kept in '{}'", run::calibration_file(hello.hardware, options.threads).string());
}

}  // namespace

Finding calibrate_machine(int threads, const run::EvaluateOptions& like) {
  const Result<std::string> done = calibrate(threads, like);
  if (done) return {.topic = "calibration", .found = *done};
  return {.topic = "calibration", .mark = Mark::Warn, .found = done.error().message, .fix = done.error().hint};
}

}  // namespace passnet::cli
