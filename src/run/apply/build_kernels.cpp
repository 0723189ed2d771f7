#include "run/apply/build_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "pass/kernel/compiler.h"
#include "pass/triton/build.h"
#include "pass/triton/launch_request.h"

namespace passnet::run {

namespace {

using Kernel = Result<pass::BuiltKernel>;

/// What a launch's kernel is built from. Errors: BadPass when the pass has no source for this kind of processor.
Result<pass::KernelRequest> request_for(const pass::Pass& pass, const pass::Launch& launch,
                                        const pass::BuildOptions& options, const std::string& architecture) {
  const bool on_gpu = !pass::is_processor(architecture);
  pass::KernelRequest request{on_gpu ? pass.cuda_source : pass.cpu_source, launch.kernel, launch.constants,
                              on_gpu ? launch.block : 1, architecture};
  if (launch.origin == pass::KernelOrigin::Builtin) {
    PASSNET_TRY(request.source, pass::builtin_source(on_gpu, options));
    return request;
  }
  if (!request.source.empty()) {
    PASSNET_TRY(request.text, pass.files.read(request.source, FileKind::Kernel));
    return request;
  }
  return bad_pass(fmt::format("pass '{}' has no {} kernel: no file '{}.{}' beside '{}'", pass.name,
                              on_gpu ? "CUDA" : "CPU", pass.name, on_gpu ? "cu" : "cpp", pass.path.filename().string()),
                  launch.at)
      .with_hint(on_gpu ? "write the kernel, or run on the CPU" : "write the kernel, or run on the GPU");
}

/// One way to make one launch, and where its kernel is among those that are built.
struct Wanted {
  size_t list = 0;
  BuiltLists::Way way;
  bool is_triton = false;
  size_t request = 0;
};

/// All kernels that are needed, each once.
struct Needs {
  std::vector<Wanted> wanted;
  std::vector<pass::KernelRequest> kernels;
  std::vector<pass::TritonRequest> triton;
  std::vector<Kernel> built, built_triton;

  const Kernel& kernel_of(const Wanted& one) const { return (one.is_triton ? built_triton : built)[one.request]; }
};

/// What @triton.autotune lists, or the one way that there is.
std::vector<pass::LaunchChoice> choices_of(const pass::Launch& launch) {
  if (!launch.choices.empty()) return launch.choices;
  return {{launch.constants, launch.grid}};
}

Result<void> add_triton(const pass::Pass& pass, const pass::Launch& launch, size_t list, size_t index,
                        const std::string& architecture, Needs& needs) {
  if (pass::is_processor(architecture))
    return bad_pass(fmt::format("pass '{}' has no CPU kernel: '{}' is a kernel of Triton", pass.name, launch.kernel),
                    launch.at)
        .with_hint("its @triton.jit kernels need a GPU");
  const std::vector<pass::LaunchChoice> choices = choices_of(launch);
  for (size_t choice = 0; choice < choices.size(); ++choice) {
    PASSNET_TRY(pass::TritonRequest request,
                pass::triton_request(*pass.plan.files, launch, choices[choice], architecture));
    needs.wanted.push_back({list, {index, choice}, true, needs.triton.size()});
    needs.triton.push_back(std::move(request));
  }
  return {};
}

Result<Needs> needs_of(const Rewritten& rewritten, const std::vector<pass::Pass>& passes,
                       const pass::BuildOptions& options, const std::string& architecture) {
  Needs needs;
  for (size_t list = 0; list < rewritten.lists.size(); ++list) {
    const pass::Pass& pass = passes[rewritten.pass_of_list[list]];
    for (size_t i = 0; i < rewritten.lists[list].launches.size(); ++i) {
      const pass::Launch& launch = rewritten.lists[list].launches[i];
      if (launch.origin == pass::KernelOrigin::Triton) {
        PASSNET_TRY_VOID(add_triton(pass, launch, list, i, architecture, needs));
        continue;
      }
      PASSNET_TRY(pass::KernelRequest request, request_for(pass, launch, options, architecture));
      const auto found = std::ranges::find(needs.kernels, request);
      needs.wanted.push_back({list, {i, 0}, false, static_cast<size_t>(found - needs.kernels.begin())});
      if (found == needs.kernels.end()) needs.kernels.push_back(std::move(request));
    }
  }
  const size_t all = needs.kernels.size() + needs.triton.size();
  if (all <= options.most_builds) return needs;
  return bad_pass(fmt::format("the passes need {} kernels built for this graph, more than the limit of {}", all,
                              options.most_builds),
                  rewritten.lists.front().launches.front().at)
      .with_hint("each set of constants (keywords of a launch) is a build of its own: pass what varies as an argument");
}

std::vector<Kernel> build_all(const std::vector<pass::KernelRequest>& requests, const pass::BuildOptions& options) {
  std::vector<std::optional<Kernel>> built(requests.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < requests.size(); i = next++) built[i] = pass::build_kernel(requests[i], options);
  };
  {
    std::vector<std::jthread> helpers;
    const size_t threads = std::min<size_t>(requests.size(), std::max(1u, std::thread::hardware_concurrency()));
    for (size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
    work();
  }
  std::vector<Kernel> kernels;
  for (std::optional<Kernel>& one : built) kernels.push_back(std::move(*one));
  return kernels;
}

/// Takes back the permission to write inputs that no kernel asks for: where kernels have a memory of their own, an input
/// that may be written is copied there and back at each call. What a kernel of Triton writes is not declared.
void keep_asked_permissions(pass::LaunchList& list, const std::vector<pass::BuiltKernel>& kernels) {
  std::vector<bool> asked(list.buffers.size(), false);
  for (size_t i = 0; i < list.launches.size(); ++i) {
    const std::vector<pass::LaunchArg>& args = list.launches[i].args;
    for (size_t k = 0; k < args.size(); ++k) {
      const auto* view = std::get_if<pass::View>(&args[k]);
      const bool is_const = !kernels[i].triton && kernels[i].parameters[k].starts_with("const ");
      if (view != nullptr && !is_const) asked[view->buffer] = true;
    }
  }
  for (size_t i = 0; i < asked.size(); ++i) list.buffers[i].may_be_written &= asked[i];
}

/// Whether another way to make the same launch has been built.
bool has_other_way(const Needs& needs, const Wanted& failed) {
  return std::ranges::any_of(needs.wanted, [&](const Wanted& other) {
    return other.list == failed.list && other.way.launch == failed.way.launch && needs.kernel_of(other).has_value();
  });
}

}  // namespace

bool BuiltLists::has_choices() const {
  return std::ranges::any_of(ways, [](const std::vector<Way>& of_list) {
    return std::ranges::adjacent_find(of_list, {}, &Way::launch) != of_list.end();
  });
}

Result<BuiltLists> build_kernels(const Rewritten& rewritten, const std::vector<pass::Pass>& passes,
                                 const pass::BuildOptions& options, const std::string& architecture) {
  PASSNET_TRY(Needs needs, needs_of(rewritten, passes, options, architecture));
  needs.built = build_all(needs.kernels, options);
  needs.built_triton =
      pass::build_triton_kernels(needs.triton, {.cache_dir = options.cache_dir, .interrupted = options.interrupted});

  BuiltLists made;
  made.lists = rewritten.lists;
  made.kernels.resize(made.lists.size());
  made.ways.resize(made.lists.size());
  for (pass::LaunchList& list : made.lists) list.launches.clear();
  for (const Wanted& one : needs.wanted) {
    const Kernel& kernel = needs.kernel_of(one);
    if (!kernel && kernel.error().kind == Error::Kind::BadPass && has_other_way(needs, one)) continue;
    if (!kernel) return kernel.error();
    const pass::Launch& launch = rewritten.lists[one.list].launches[one.way.launch];
    pass::LaunchList& list = made.lists[one.list];
    if (one.is_triton) {
      list.launches.push_back(
          pass::compiled_launch(list, launch, choices_of(launch)[one.way.choice], needs.triton[one.request], *kernel));
    } else {
      PASSNET_TRY_VOID(pass::check_launch(launch, rewritten.lists[one.list], *kernel));
      list.launches.push_back(launch);
    }
    made.kernels[one.list].push_back(*kernel);
    made.ways[one.list].push_back(one.way);
  }
  for (size_t i = 0; i < made.lists.size(); ++i) keep_asked_permissions(made.lists[i], made.kernels[i]);
  return made;
}

BuiltLists keep_fastest(const BuiltLists& built, const std::vector<std::vector<double>>& us) {
  BuiltLists kept;
  kept.lists = built.lists;
  for (size_t list = 0; list < built.lists.size(); ++list) {
    const std::vector<BuiltLists::Way>& ways = built.ways[list];
    kept.lists[list].launches.clear();
    kept.kernels.emplace_back();
    kept.ways.emplace_back();
    for (size_t first = 0, next = 0; first < ways.size(); first = next) {
      size_t best = first;
      for (next = first; next < ways.size() && ways[next].launch == ways[first].launch; ++next) {
        if (us[list][next] < us[list][best]) best = next;
      }
      kept.lists[list].launches.push_back(built.lists[list].launches[best]);
      kept.kernels[list].push_back(built.kernels[list][best]);
      kept.ways[list].push_back(ways[best]);
    }
  }
  return kept;
}

}  // namespace passnet::run
