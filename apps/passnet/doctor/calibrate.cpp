// passnet doctor --calibrate: what this machine moves, and what handing work to a kernel takes.
#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "base/temporary_directory.h"
#include "doctor/doctor.h"
#include "fx/parser.h"
#include "options.h"
#include "pass/kernel/build.h"
#include "pass/plan/launch_list.h"
#include "print.h"
#include "record/stats.h"
#include "run/calibration.h"
#include "run/evaluate.h"
#include "run/machine_lock.h"
#include "run/worker/processors.h"
#include "run/worker/requests.h"
#include "wire/bundle.h"

namespace passnet::cli {

namespace {

using Mark = Finding::Mark;
using namespace std::chrono_literals;

constexpr auto kAnswer = 60s;
constexpr int kCalls = 500;
constexpr int64_t kElements = 64;

constexpr const char* kModel =
    "import torch\nimport passnet\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, x):\n"
    "        t = passnet.fused(0, x)\n        y = t[0]\n        return (y,)\n";
constexpr const char* kKernel =
    "#include <passnet/kernel.h>\n"
    "PASSNET_KERNEL copied(const float* x, float* out, int64_t n) {\n"
    "  const auto [first, last] = passnet::chunk(n);\n"
    "  for (int64_t i = first; i < last; ++i) out[i] = x[i];\n"
    "}\n";

pass::LaunchList one_launch() {
  const ir::TensorType type = ir::contiguous(ir::DType::Float32, {kElements});
  pass::LaunchList list;
  list.pass = "calibration";
  list.buffers = {{0, type, std::nullopt}, {-1, type, std::nullopt}};
  pass::Launch launch;
  launch.kernel = "copied";
  launch.grid = {1};
  launch.args = {pass::View{0, 0, type}, pass::View{1, 0, type}, kElements};
  list.launches = {launch};
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

Result<pass::BuiltKernel> build_copied() {
  PASSNET_TRY(const TemporaryDirectory scratch, TemporaryDirectory::make("passnet_calibrate_"));
  const std::filesystem::path source = scratch.path() / "calibration.cpp";
  PASSNET_TRY_VOID(write_file(source, kKernel));
  return pass::build_kernel({source, "copied", {}, 1, ""}, {});
}

/// Median us of a call that does nothing but have a kernel copy kElements numbers: handing it over and waiting for it.
Result<double> hand_over_us(const run::WorkerOptions& like) {
  run::WorkerOptions options = like;
  options.role = run::Role::Candidate;
  run::Worker candidate(std::move(options));
  PASSNET_TRY_VOID(candidate.start());
  PASSNET_TRY(pass::BuiltKernel kernel, build_copied());
  PASSNET_TRY(const ir::Graph graph, fx::parse_model("calibration.py", std::make_shared<const std::string>(kModel)));
  PASSNET_TRY(const run::Bundle input, one_input());
  PASSNET_TRY_VOID(run::load_graph(candidate, "calibration", graph, {one_launch()}, {{std::move(kernel)}}, kAnswer));
  PASSNET_TRY_VOID(run::set_inputs(candidate, "calibration", input, kAnswer));
  PASSNET_TRY_VOID(run::run_graph(candidate, "calibration", true, kAnswer));
  const Json request{{"do", "time"}, {"id", "calibration"}, {"calls", kCalls}};
  PASSNET_TRY(const run::Reply reply, candidate.ask(request, {}, kAnswer));
  return run::read_fields("time", [&]() -> Result<double> {
    return record::summarize(reply.json.at("times_us").get<std::vector<double>>()).median;
  });
}

Result<std::string> calibrate(int threads, std::optional<int> gpu) {
  const auto waiting = [](const std::string& why) { say_error("waiting: {}\n", why); };
  const std::vector<int> available = run::available_processors();
  const size_t wanted = gpu ? 1 : threads > 0 ? static_cast<size_t>(threads) : available.size();
  PASSNET_TRY(const run::MachineLease processors,
              run::MachineLease::take("processor", available, std::min(wanted, available.size()), waiting, nullptr));
  run::WorkerOptions options;
  options.threads = threads > 0 ? threads : run::available_threads();
  options.gpu = gpu;
  if (!gpu) options.processors = processors.held();
  run::Worker reference(options);
  PASSNET_TRY_VOID(reference.start());
  PASSNET_TRY(const run::Hello hello, run::start_up(reference));
  PASSNET_TRY(const run::Calibration measured, run::calibrate(reference, hello.hardware, options.threads, kAnswer));
  PASSNET_TRY_VOID(run::store_calibration(measured));
  reference.stop();
  std::string found = fmt::format("{}: copies {}", hello.hardware, run::describe(measured));
  if (!gpu) {
    PASSNET_TRY(const double us, hand_over_us(options));
    found += fmt::format("; a call of one small kernel takes {:.1f} us", us);
  }
  return found + fmt::format("; kept in '{}'", run::calibration_file(hello.hardware, options.threads).string());
}

}  // namespace

Finding calibrate_machine(int threads, std::optional<int> gpu) {
  const Result<std::string> done = calibrate(threads, gpu);
  if (done) return {.topic = "calibration", .found = *done};
  return {.topic = "calibration", .mark = Mark::Warn, .found = done.error().message, .fix = done.error().hint};
}

}  // namespace passnet::cli
