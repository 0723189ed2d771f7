#include "dataset/sizes/data_symbols.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/cut.h"
#include "ir/tensor_type.h"

namespace passnet::dataset {

namespace {

template <class T>
void repeat(std::vector<T>& data, int64_t count) {
  const size_t period = data.size();
  if (period == 0) return;
  data.reserve(static_cast<size_t>(count));
  while (data.size() < static_cast<size_t>(count)) data.push_back(data[data.size() - period]);
  data.resize(static_cast<size_t>(count));
}

std::vector<DataSymbol> symbols_of_constraints(const std::vector<graphdir::TensorMeta>& metas,
                                               const graphdir::Constraints& constraints) {
  std::vector<DataSymbol> symbols(constraints.symbols.size());
  for (size_t k = 0; k < symbols.size(); ++k) symbols[k].example = constraints.examples[k];
  for (size_t record = 0; record < metas.size(); ++record) {
    const auto input = std::ranges::find(constraints.inputs, metas[record].name, &graphdir::Constraints::Input::name);
    if (input == constraints.inputs.end()) continue;
    for (size_t axis = 0; axis < input->shape.size(); ++axis) {
      if (input->shape[axis].kind == graphdir::ShapeExpression::Kind::Symbol)
        symbols[static_cast<size_t>(input->shape[axis].value)].places.push_back({record, axis});
    }
  }
  std::erase_if(symbols, [](const DataSymbol& symbol) { return symbol.places.empty(); });
  return symbols;
}

}  // namespace

std::vector<DataSymbol> find_symbols(std::span<const graphdir::GraphDir* const> captures,
                                     const graphdir::Constraints& constraints) {
  const std::vector<graphdir::TensorMeta>& metas = captures.front()->weights;
  std::vector<DataSymbol> symbols;
  if (captures.size() == 1) symbols = symbols_of_constraints(metas, constraints);
  const bool given = !symbols.empty();
  std::vector<std::vector<int64_t>> profiles;  // by symbol: its size in each capture
  for (size_t record = 0; record < metas.size(); ++record) {
    if (given || !analysis::is_data(metas[record].name)) continue;
    for (size_t axis = 0; axis < metas[record].shape.size(); ++axis) {
      std::vector<int64_t> profile;
      for (const graphdir::GraphDir* capture : captures) profile.push_back(capture->weights[record].shape[axis]);
      const bool differs = std::ranges::any_of(profile, [&](int64_t size) { return size != profile.front(); });
      if (captures.size() > 1 ? !differs : profile.front() == 0 || (profile.front() == 1 && axis > 0)) continue;
      const auto known = std::ranges::find(profiles, profile);
      const auto k = static_cast<size_t>(known - profiles.begin());
      if (known == profiles.end()) {
        profiles.push_back(profile);
        symbols.push_back({profile.front(), {}, false});
      }
      symbols[k].places.push_back({record, axis});
    }
  }
  for (DataSymbol& symbol : symbols)
    symbol.is_of_pictures = std::ranges::any_of(symbol.places, [&](const DataSymbol::Place& place) {
      return metas[place.record].shape.size() >= 4 && place.axis + 2 >= metas[place.record].shape.size();
    });
  return symbols;
}

std::vector<graphdir::TensorMeta> resized(const std::vector<graphdir::TensorMeta>& metas,
                                          std::span<const DataSymbol> symbols, std::span<const int64_t> values) {
  std::vector<graphdir::TensorMeta> made = metas;
  for (size_t k = 0; k < symbols.size(); ++k) {
    for (const DataSymbol::Place& place : symbols[k].places) made[place.record].shape[place.axis] = values[k];
  }
  for (size_t i = 0; i < made.size(); ++i) {
    if (made[i].shape == metas[i].shape) continue;
    const int64_t elements = ir::contiguous(made[i].dtype, made[i].shape).numel();
    if (made[i].int_data) repeat(*made[i].int_data, elements);
    if (made[i].float_data) repeat(*made[i].float_data, elements);
  }
  return made;
}

std::optional<std::vector<int64_t>> values_in(const std::vector<graphdir::TensorMeta>& metas,
                                              std::span<const DataSymbol> symbols,
                                              const std::vector<graphdir::TensorMeta>& other) {
  if (metas.size() != other.size()) return std::nullopt;
  for (size_t i = 0; i < metas.size(); ++i) {
    if (metas[i].name != other[i].name || metas[i].shape.size() != other[i].shape.size()) return std::nullopt;
  }
  std::vector<int64_t> values;
  for (const DataSymbol& symbol : symbols)
    values.push_back(other[symbol.places.front().record].shape[symbol.places.front().axis]);
  const std::vector<graphdir::TensorMeta> made = resized(metas, symbols, values);
  for (size_t i = 0; i < made.size(); ++i) {
    if (made[i].shape != other[i].shape) return std::nullopt;
  }
  return values;
}

graphdir::Constraints constraints_of(const std::vector<graphdir::TensorMeta>& metas,
                                     std::span<const DataSymbol> symbols, std::span<const int64_t> values) {
  graphdir::Constraints constraints;
  for (const graphdir::TensorMeta& meta : metas) {
    constraints.inputs.push_back({meta.name, {}, {}});
    for (const int64_t size : meta.shape)
      constraints.inputs.back().shape.push_back({graphdir::ShapeExpression::Kind::Integer, size, {}});
  }
  for (size_t k = 0; k < symbols.size(); ++k) {
    constraints.symbols.push_back(fmt::format("S{}", k));
    constraints.examples.push_back(values[k]);
    for (const DataSymbol::Place& place : symbols[k].places)
      constraints.inputs[place.record].shape[place.axis] = {
          graphdir::ShapeExpression::Kind::Symbol, static_cast<int64_t>(k), {}};
  }
  std::ranges::sort(constraints.inputs, {}, &graphdir::Constraints::Input::name);
  return constraints;
}

}  // namespace passnet::dataset
