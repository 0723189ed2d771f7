#include "author/text/plan/launch_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "author/subject/part.h"
#include "author/text/operations.h"

namespace passnet::author {

namespace {

/// Returns the arguments of a launch. Constants that are not looked at are left out.
std::vector<std::string> arguments_of(Definitions& definitions, const NamedKernel& kernel, const LaunchNames& names) {
  std::vector<std::string> arguments;
  for (const auto* tensors : {&kernel.facts.loaded, &kernel.facts.stored}) {
    for (const TensorId tensor : *tensors) arguments.push_back(definitions.tensors()[tensor].name);
  }
  for (const auto* shares : {&kernel.facts.shares_taken, &kernel.facts.shares_given}) {
    for (const TensorId reduction : *shares) arguments.push_back(names.shares.at(reduction));
  }
  for (const auto& [name, compute] : kernel.facts.parameters) arguments.push_back(name);
  for (const Element& element : definitions.elements()) {
    if (element.varies && (has_word(kernel.cpp, element.kernel) || has_word(kernel.cuda, element.kernel)))
      arguments.push_back(fmt::format("{}={}", element.kernel, element.plan));
  }
  for (const auto& [plan, constant] : definitions.sizes().dimension_names()) {
    if (has_word(kernel.cpp, constant) || has_word(kernel.cuda, constant))
      arguments.push_back(fmt::format("{}={}", constant, plan));
  }
  if (!names.pack.empty() || kernel.facts.tile) arguments.push_back("PACK=" + (names.pack.empty() ? "1" : names.pack));
  if (kernel.facts.tile) arguments.push_back("TILE=" + names.tile);
  if (!names.band.empty()) arguments.push_back("BAND=" + names.band);
  if (!names.down.empty()) arguments.push_back("DOWN=" + names.down);
  if (!names.tile_rows.empty()) {
    arguments.push_back("TILE_ROWS=" + names.tile_rows);
    arguments.push_back("TILE_COLUMNS=" + names.tile_columns);
    arguments.push_back("CLUSTER=" + names.cluster);
  }
  return arguments;
}

}  // namespace

std::string allocation(Definitions& definitions, TensorId id) {
  const Tensor& tensor = definitions.tensors()[id];
  std::vector<std::string> sizes, back(tensor.shape.size());
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    const size_t dim = tensor.order.empty() ? i : tensor.order[i];
    sizes.push_back(definitions.sizes().plan_text(tensor.shape[dim]));
    back[dim] = std::to_string(i);
  }
  std::string text =
      fmt::format("torch.empty({}, dtype={})", tuple_of(sizes), definitions.elements()[tensor.element].plan);
  if (!std::ranges::is_sorted(tensor.order)) text += fmt::format(".permute({})", fmt::join(back, ", "));
  return text;
}

std::string pack_text(Definitions& definitions, const Packing& packing, const std::vector<TensorId>& stored,
                      const std::string& n, const std::string& threads, const std::string& tile) {
  SizeTable& sizes = definitions.sizes();
  const auto bytes = [&](const Tensor& tensor) {
    size_t least = 8;
    for (const ir::DType dtype : definitions.elements()[tensor.element].by_example)
      least = std::min(least, static_cast<size_t>(ir::size_bytes(dtype)));
    return least;
  };
  // Two stores of 16 bytes by a thread, each beside those of its neighbours' by turns, take twice as long as one.
  size_t fewest = 1;
  for (const TensorId id : packing.tensors) {
    if (std::ranges::find(stored, id) != stored.end()) fewest = std::max(fewest, bytes(definitions.tensors()[id]));
  }
  const Tensor* smallest = nullptr;
  std::vector<std::string> steps;
  for (const SizeId step : packing.steps) {
    if (!sizes.is_one(step) || packing.steps.size() == 1) steps.push_back(sizes.plan_text(step));
  }
  // Longer packs would leave some threads of the block without work.
  if (!tile.empty()) steps.push_back(fmt::format("{0} * {0} // TILE_THREADS", tile));
  for (const TensorId id : packing.tensors) {
    const Tensor& tensor = definitions.tensors()[id];
    if (bytes(tensor) >= fewest && (smallest == nullptr || bytes(tensor) < bytes(*smallest))) smallest = &tensor;
    const std::string offset = tensor.name + ".storage_offset()";
    const bool is_given =
        tensor.is_given || tensor.overwrites || (tensor.shares && definitions.tensors()[*tensor.shares].overwrites);
    if (is_given && std::ranges::find(steps, offset) == steps.end()) steps.push_back(offset);
  }
  return fmt::format("pack_of({}, {}, {}, {})", smallest->name, n, threads, tuple_of(steps));
}

bool goes_by_items(const NamedKernel& kernel) {
  return kernel.lanes == Lanes::Items && !kernel.facts.tile && !kernel.facts.product;
}

std::string product_text(const std::string& a, const std::string& b) {
  if (a == "1") return b;
  const bool is_product = a.find_first_of("+-/") == std::string::npos;
  return fmt::format("{} * {}", is_product ? a : "(" + a + ")", b);
}

std::string quotient_text(const std::string& a, const std::string& b) {
  return fmt::format("{} // {}", a.find_first_of(" ") == std::string::npos ? a : "(" + a + ")", b);
}

std::string threads_of_row(SizeTable& sizes, const NamedKernel& kernel) {
  const std::string threads =
      fmt::format("threads_of({}, {})", sizes.plan_text(kernel.facts.items), sizes.plan_text(kernel.facts.row_work));
  switch (kernel.facts.order) {
    case SumOrder::LayerNorm: return fmt::format("min(LAYER_NORM_THREADS, {})", threads);
    case SumOrder::Softmax: return fmt::format("min(WARP, {})", threads);
    case SumOrder::GroupNorm:
      return fmt::format("MOST_THREADS if {} >= MOST_THREADS else WARP", sizes.plan_text(kernel.facts.row));
    case SumOrder::Any: break;
  }
  return threads;
}

std::string threads_text(SizeTable& sizes, const NamedKernel& kernel, const LaunchNames& names) {
  if (!names.down.empty()) return product_text(sizes.plan_text(kernel.facts.items), names.down);
  if (!kernel.facts.band) return sizes.plan_text(kernel.facts.items);
  const Band& bands = *kernel.facts.band;
  return product_text(sizes.plan_text(sizes.product(bands.columns, bands.across)),
                      fmt::format("triton.cdiv({}, {})", sizes.plan_text(bands.down.extent), names.band));
}

std::string longest_side_text(Definitions& definitions, const Tile& tile) {
  if (!tile.may_be_large) return std::to_string(kTile);
  return fmt::format("{} if {}.element_size() <= {} else {}", kLargeTile,
                     definitions.tensors()[definitions.exprs().at(tile.loads[0]).tensor].name, kBytesInLargeTile,
                     kTile);
}

std::string extents_text(SizeTable& sizes, const Tile& tile) {
  return fmt::format("{}, {}, {}", sizes.plan_text(loop_steps(sizes, tile.outer)), sizes.plan_text(tile.across.extent),
                     sizes.plan_text(tile.along.extent));
}

std::string extents_text(SizeTable& sizes, const Product& product) {
  const auto text = [&](const std::vector<Loop>& loops) { return sizes.plan_text(loop_steps(sizes, loops)); };
  return fmt::format("{}, {}, {}, {}", text(product.batch), text(product.rows.across), text(product.columns.across),
                     text(product.depth));
}

std::string launch_text(Definitions& definitions, const NamedKernel& kernel, const std::string& device_of,
                        const LaunchNames& names) {
  std::vector<std::string> arguments = arguments_of(definitions, kernel, names);
  SizeTable& sizes = definitions.sizes();
  const std::string items = sizes.plan_text(kernel.facts.items), row = sizes.plan_text(kernel.facts.row);
  std::string grid;
  if (kernel.lanes == Lanes::Row) {
    arguments.push_back("THREADS=" + names.threads);
    grid = fmt::format("rows_grid({}, {}, {}, {}, {}), {}", device_of, items, row, names.threads, names.block,
                       names.block);
  } else if (kernel.facts.product) {
    const Product& product = *kernel.facts.product;
    grid = fmt::format("products_grid({}, {}, {}, {}, {}), PRODUCT_THREADS", device_of, extents_text(sizes, product),
                       names.tile_rows, names.tile_columns, names.cluster);
  } else if (kernel.facts.tile) {
    grid = fmt::format("tiles_grid({}, {}, {}), TILE_THREADS", device_of, extents_text(sizes, *kernel.facts.tile),
                       names.tile);
  } else {
    grid = fmt::format("items_grid({}, {}, {}, {}, {}), {}", device_of, threads_text(sizes, kernel, names),
                       sizes.plan_text(kernel.facts.steps), names.pack.empty() ? "1" : names.pack, names.block,
                       names.block);
  }
  return fmt::format("{}[{}]({})", kernel.name, grid, fmt::join(arguments, ", "));
}

std::string split_launch_text(Definitions& definitions, const NamedKernel& kernel, const NamedKernel& whole,
                              const std::string& device_of, const LaunchNames& names) {
  std::vector<std::string> arguments = arguments_of(definitions, kernel, names);
  arguments.push_back("PARTS=" + names.parts);
  SizeTable& sizes = definitions.sizes();
  const std::string items = sizes.plan_text(whole.facts.items), length = sizes.plan_text(whole.split_length);
  std::string grid;
  if (whole.lanes == Lanes::Row) {
    arguments.push_back(fmt::format("THREADS={}", kernel.over_row ? "MOST_THREADS" : "WARP"));
    grid = kernel.over_row ? fmt::format("({},), MOST_THREADS", product_text(items, names.parts))
                           : fmt::format("rows_grid({}, {}, {}, WARP, WARP), WARP", device_of, items, names.parts);
  } else {
    std::string threads = kernel.over_row ? product_text(items, names.parts) : items;
    const std::string steps = kernel.over_row ? quotient_text(length, names.parts) : names.parts;
    const std::string block = names.block.empty() ? "256" : names.block;
    if (!names.down.empty()) threads = product_text(threads, names.down);
    grid = fmt::format("items_grid({}, {}, {}, 1, {}), {}", device_of, threads, steps, block, block);
  }
  return fmt::format("{}[{}]({})", kernel.name, grid, fmt::join(arguments, ", "));
}

}  // namespace passnet::author
