#include "run/apply/tune.h"

#include <algorithm>
#include <utility>

namespace passnet::run {

namespace {

constexpr int kTunedCalls = 10;  // of each way; the median counts

/// The ways that were tried of each launch of which there are several.
std::vector<record::Tuned> describe(const BuiltLists& tried, const BuiltLists& kept,
                                    const std::vector<std::vector<double>>& us) {
  std::vector<record::Tuned> chosen;
  for (size_t list = 0; list < kept.lists.size(); ++list) {
    for (size_t i = 0; i < kept.ways[list].size(); ++i) {
      const BuiltLists::Way& way = kept.ways[list][i];
      const pass::Launch& launch = kept.lists[list].launches[i];
      record::Tuned one{kept.lists[list].pass,
                        launch.kernel,
                        static_cast<int>(launch.at.line),
                        static_cast<int>(list),
                        pass::to_text(launch.constants),
                        {}};
      for (size_t at = 0; at < tried.ways[list].size(); ++at) {
        if (tried.ways[list][at].launch != way.launch) continue;
        one.tried_us.push_back(us[list][at]);
      }
      if (one.tried_us.size() > 1) chosen.push_back(std::move(one));
    }
  }
  return chosen;
}

}  // namespace

Result<std::vector<record::Tuned>> tune(Worker& candidate, const ir::Graph& graph, const Bundle& inputs,
                                        std::chrono::milliseconds timeout, BuiltLists& built) {
  if (!built.has_choices()) return std::vector<record::Tuned>{};
  PASSNET_TRY_VOID(load_graph(candidate, kTunedId, graph, built.lists, built.kernels, timeout));
  PASSNET_TRY_VOID(set_inputs(candidate, kTunedId, inputs, timeout));
  PASSNET_TRY(const auto us, time_launches(candidate, kTunedId, built.lists, kTunedCalls, timeout));
  forget_graph(candidate, kTunedId, timeout);
  BuiltLists kept = keep_fastest(built, us);
  std::vector<record::Tuned> chosen = describe(built, kept, us);
  built = std::move(kept);
  return chosen;
}

}  // namespace passnet::run
