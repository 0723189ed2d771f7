// passnet dataset show: the card of a sample: what it is made of, what it must move and compute, where it comes
// from.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/cost.h"
#include "analysis/op_name.h"
#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/text/strings.h"
#include "command.h"
#include "dataset.h"
#include "fx/print.h"
#include "graphdir/graph_facts.h"
#include "graphdir/sample.h"
#include "options.h"
#include "record/floor.h"
#include "type_inference.h"

namespace passnet::cli {

namespace {

// An H200, with float32.
constexpr double kGbPerS = 4300, kTflops = 60;

struct ShowFlags {
  std::string path;
  bool json = false;
};

struct Card {
  graphdir::GraphDir graph;
  InferredTypes types;
  analysis::Cost cost;
  Json facts, sources;
};

double least_us(const analysis::Cost& cost) {
  const std::vector<record::Arithmetic> arithmetic{{"", cost.flops(), 1e3 * kTflops}};
  return record::limit_of({static_cast<int64_t>(cost.bytes_in + cost.bytes_out), kGbPerS, 0, arithmetic})->us;
}

/// DATASET/NAME stands for DATASET/samples/NAME.
std::filesystem::path sample_at(const std::filesystem::path& path) {
  const std::filesystem::path named = path.parent_path() / "samples" / path.filename();
  return !path_exists(path) && directory_exists(named) ? named : path;
}

Result<std::vector<Card>> read_cards(const std::string& path) {
  PASSNET_TRY(const graphdir::Sample sample, graphdir::load_sample(sample_at(path)));
  TypeInference inference;
  std::vector<Card> cards;
  for (size_t i = 0; i < sample.graph_paths.size(); ++i) {
    Card card;
    PASSNET_TRY(card.graph, graphdir::load_graph_dir(sample.graph_paths[i]));
    card.graph.name = sample.graph_names[i];
    PASSNET_TRY(card.types, inference.types_of(card.graph));
    card.cost = analysis::cost_of(card.graph.graph, card.types.values);
    card.facts = graphdir::read_facts(card.graph.path);
    card.sources = graphdir::read_sources(card.graph.path);
    cards.push_back(std::move(card));
  }
  return cards;
}

std::string inputs_text(const Card& card) {
  std::string text;
  for (const graphdir::TensorMeta& meta : card.graph.weights)
    text += fmt::format("{}{}[{}]", text.empty() ? "" : " ", meta.name, fmt::join(meta.shape, ","));
  return text;
}

void print_sources(const Card& card) {
  const auto fact = [&](const char* key) { return card.facts.value(key, Json()); };
  for (const char* key : {"source", "model_name", "library_version", "licence", "shape"}) {
    if (const Json value = fact(key); value.is_string()) say("  {:<16} {}\n", key, value.get<std::string>());
  }
  if (!card.sources.is_object()) return;
  size_t ranges = 0;
  for (const Json& places : card.sources) ranges += places.size();
  say("  {:<16} {} in {}\n", "found at", counted(ranges, "place"), counted(card.sources.size(), "graph"));
  size_t shown = 0;
  for (const auto& [graph, places] : card.sources.items()) {
    if (++shown > 5) break;
    say("  {:<16} {} {}\n", "", graph, dump(places));
  }
}

void print_cards(const std::string& path, const std::vector<Card>& cards) {
  const Card& first = cards.front();
  const std::vector<std::string> names = analysis::op_names(first.graph.graph);
  std::map<std::string, size_t> calls;
  for (const std::string& name : names) ++calls[name];
  say("{}\n\n{} operators:", path, names.size());
  for (const auto& [name, count] : calls) say(" {}{}", name, count > 1 ? fmt::format(" x{}", count) : "");
  say("\n\n{:<24} {:>10} {:>10} {:>10} {:>12}  inputs\n", "graph", "reads", "writes", "MFLOP", "at least us");
  for (const Card& card : cards) {
    say("{:<24} {:>10} {:>10} {:>10.2f} {:>12.2f}  {}\n", card.graph.name, bytes_text(card.cost.bytes_in),
        bytes_text(card.cost.bytes_out), card.cost.flops() / 1e6, least_us(card.cost), inputs_text(card));
  }
  say("(at least: inputs read and outputs written once at {:g} GB/s, computed at {:g} TFLOP/s)\n\nfrom\n", kGbPerS,
      kTflops);
  print_sources(first);
  say("\n{}", Lines{fx::print_model(first.graph.graph, first.types.texts)});
}

Json to_json(const Card& card) {
  return {{"graph", card.graph.name},
          {"ops", analysis::op_names(card.graph.graph)},
          {"bytes_in", card.cost.bytes_in},
          {"bytes_out", card.cost.bytes_out},
          {"flops", card.cost.flops()},
          {"roofline_us", least_us(card.cost)},
          {"facts", card.facts},
          {"sources", card.sources}};
}

Result<void> show_sample(const ShowFlags& flags) {
  PASSNET_TRY(const std::vector<Card> cards, read_cards(flags.path));
  if (flags.json) {
    for (const Card& card : cards) say("{}\n", dump(to_json(card)));
  } else {
    print_cards(flags.path, cards);
  }
  return {};
}

}  // namespace

void add_dataset_show(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<ShowFlags>();
  CLI::App* command =
      group.add_subcommand("show", "show a sample: graphs, shapes, bytes, least time, operators, origin");
  command->add_option("SAMPLE", flags->path, "a sample or a graph directory; DATASET/NAME for a sample of a dataset")
      ->required();
  add_json_flag(*command, flags->json);
  command->footer("Example:  passnet dataset show samples/llama_rotary");
  command->callback([flags, &exit_code] { exit_code = finish(show_sample(*flags)); });
}

}  // namespace passnet::cli
