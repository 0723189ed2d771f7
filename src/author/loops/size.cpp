#include "author/loops/size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text/strings.h"

namespace passnet::author {

namespace {

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

SizeTable::SizeTable(size_t examples, std::set<std::string> taken) : examples_(examples), taken_(std::move(taken)) {
  constant(1);
}

SizeId SizeTable::intern(Size size, const std::string& text) {
  const auto [known, is_new] = by_values_.emplace(size.values, static_cast<SizeId>(sizes_.size()));
  if (is_new) {
    sizes_.push_back(std::move(size));
    return known->second;
  }
  const std::string earlier = plan_text(known->second);
  const bool is_named_so = std::ranges::find(lines_, fmt::format("{} = {}", earlier, text)) != lines_.end();
  if (text == earlier || is_named_so) return known->second;
  const bool is_number = std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
  require(is_number ? fmt::format("{} == {}", earlier, text) : fmt::format("{} == {}", text, earlier));
  return known->second;
}

void SizeTable::require(std::string condition) {
  if (std::ranges::find(conditions_, condition) == conditions_.end()) conditions_.push_back(std::move(condition));
}

void SizeTable::require_at_most(SizeId size, SizeId most, const std::string& why) {
  if (is_number(size) && is_number(most)) return;
  const std::string condition = fmt::format("{} <= {}", plan_text(size), plan_text(most));
  require(condition);
  if (!why.empty()) why_.emplace(condition, why);
}

void SizeTable::require_multiple(SizeId size, int64_t of) {
  if (!is_multiple(size, of)) require(fmt::format("{} % {} == 0", text(size, false, true), of));
}

std::optional<std::string> SizeTable::why(const std::string& condition) const {
  const auto found = why_.find(condition);
  return found == why_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<SizeId> SizeTable::known(const ByExample& values) const {
  const auto found = by_values_.find(values);
  return found == by_values_.end() ? std::nullopt : std::optional(found->second);
}

SizeId SizeTable::literal(int64_t value) {
  if (value == 1) return one();
  sizes_.push_back({Kind::Constant, ByExample(examples_, value), 0, 0, {}});
  return static_cast<SizeId>(sizes_.size() - 1);
}

std::vector<SizeId> SizeTable::contiguous_strides(const std::vector<SizeId>& shape) {
  std::vector<SizeId> strides(shape.size(), one());
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = product(shape[i], strides[i]);
  return strides;
}

SizeId SizeTable::constant(int64_t value) {
  return intern({Kind::Constant, ByExample(examples_, value), 0, 0, {}}, fmt::format("{}", value));
}

SizeId SizeTable::dimension(ByExample values, const std::string& text, const std::string& name) {
  if (by_values_.contains(values)) return intern({Kind::Dimension, std::move(values), 0, 0, {}}, text);
  const std::string own = numbered(name, [&](const std::string& one) {
    return !taken_.contains(one) && std::ranges::find(names_, one) == names_.end();
  });
  names_.push_back(own);
  lines_.push_back(fmt::format("{} = {}", own, text));
  return intern({Kind::Dimension, std::move(values), 0, 0, own}, text);
}

SizeId SizeTable::given(ByExample values, const std::string& text) {
  const bool is_name = text.find_first_of("-[") == std::string::npos;
  if (!is_name) return dimension(std::move(values), text, "amount");
  if (!by_values_.contains(values)) names_.push_back(text);
  return intern({Kind::Dimension, std::move(values), 0, 0, text}, text);
}

SizeId SizeTable::derived(Kind kind, SizeId a, SizeId b, ByExample values) {
  Size size{kind, std::move(values), a, b, {}};
  const std::optional<SizeId> earlier = known(size.values);
  sizes_.push_back(size);
  const auto made = static_cast<SizeId>(sizes_.size() - 1);
  const std::string text = plan_text(made);
  const bool same = earlier && factors_of(*earlier) == factors_of(made);
  sizes_.pop_back();
  return same ? *earlier : intern(std::move(size), text);
}

std::vector<std::string> SizeTable::factors_of(SizeId id) const {
  const Size& size = sizes_[id];
  if (size.kind != Kind::Product) return {text(id, false, true)};
  std::vector<std::string> factors = factors_of(size.a);
  for (std::string& factor : factors_of(size.b)) factors.push_back(std::move(factor));
  std::ranges::sort(factors);
  return factors;
}

SizeId SizeTable::product(SizeId a, SizeId b) {
  if (is_one(a)) return b;
  if (is_one(b)) return a;
  ByExample values = sizes_[a].values;
  for (size_t i = 0; i < values.size(); ++i) values[i] *= sizes_[b].values[i];
  return derived(Kind::Product, a, b, std::move(values));
}

SizeId SizeTable::product(const std::vector<SizeId>& factors) {
  SizeId all = one();
  for (const SizeId factor : factors) all = product(all, factor);
  return all;
}

SizeId SizeTable::sum(SizeId a, SizeId b) {
  ByExample values = sizes_[a].values;
  for (size_t i = 0; i < values.size(); ++i) values[i] += sizes_[b].values[i];
  return derived(Kind::Sum, a, b, std::move(values));
}

SizeId SizeTable::difference(SizeId a, SizeId b) {
  ByExample values = sizes_[a].values;
  for (size_t i = 0; i < values.size(); ++i) values[i] -= sizes_[b].values[i];
  return derived(Kind::Difference, a, b, std::move(values));
}

Result<SizeId> SizeTable::quotient(SizeId a, SizeId b) {
  if (is_one(b)) return a;
  if (a == b && smallest(b) > 0) return one();
  ByExample values = sizes_[a].values;
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t by = sizes_[b].values[i];
    if (by == 0 || values[i] % by != 0) return unsupported(fmt::format("{} is no multiple of {}", values[i], by));
    values[i] /= by;
  }
  const SizeId made = derived(Kind::Quotient, a, b, std::move(values));
  require(fmt::format("{} % {} == 0", text(a, false, true), text(b, false, true)));
  return made;
}

SizeId SizeTable::whole_quotient(SizeId a, SizeId b) {
  ByExample values = sizes_[a].values;
  for (size_t i = 0; i < values.size(); ++i) values[i] /= std::max<int64_t>(sizes_[b].values[i], 1);
  return derived(Kind::Quotient, a, b, std::move(values));
}

bool SizeTable::is_constant(SizeId id, int64_t value) const {
  return sizes_[id].kind == Kind::Constant && sizes_[id].values[0] == value;
}

bool SizeTable::is_number(SizeId id) const {
  const Size& size = sizes_[id];
  if (size.kind == Kind::Constant || size.kind == Kind::Dimension) return size.kind == Kind::Constant;
  return is_number(size.a) && is_number(size.b);
}

/// Tells whether it follows from the numbers in it.
bool SizeTable::is_multiple(SizeId id, int64_t of) const {
  const Size& size = sizes_[id];
  switch (size.kind) {
    case Kind::Constant: return size.values[0] % of == 0;
    case Kind::Product: return is_multiple(size.a, of) || is_multiple(size.b, of);
    case Kind::Sum:
    case Kind::Difference: return is_multiple(size.a, of) && is_multiple(size.b, of);
    case Kind::Dimension:
    case Kind::Quotient: break;
  }
  return false;
}

std::optional<int64_t> SizeTable::number(SizeId id) const {
  return is_number(id) ? std::optional(sizes_[id].values[0]) : std::nullopt;
}

int64_t SizeTable::largest(SizeId id) const { return *std::ranges::max_element(sizes_[id].values); }
int64_t SizeTable::smallest(SizeId id) const { return *std::ranges::min_element(sizes_[id].values); }

std::string SizeTable::text(SizeId id, bool in_kernel, bool inside) const {
  const Size& size = sizes_[id];
  if (size.kind != Kind::Product && is_number(id)) return fmt::format("{}", size.values[0]);
  const auto both = [&](const char* format, bool loose) {
    const std::string made =
        fmt::format(fmt::runtime(format), text(size.a, in_kernel, true), text(size.b, in_kernel, true));
    return inside && loose ? fmt::format("({})", made) : made;
  };
  switch (size.kind) {
    case Kind::Constant: break;
    case Kind::Dimension: return in_kernel ? upper(size.name) : size.name;
    case Kind::Product: {
      const auto factor = [&](SizeId one) { return text(one, in_kernel, sizes_[one].kind != Kind::Product); };
      const std::string made = fmt::format("{} * {}", factor(size.a), factor(size.b));
      return inside ? fmt::format("({})", made) : made;
    }
    case Kind::Quotient: return both(in_kernel ? "{} / {}" : "{} // {}", true);
    case Kind::Sum: return both("{} + {}", true);
    case Kind::Difference: return both("{} - {}", true);
  }
  return {};
}

std::string SizeTable::plan_text(SizeId id) const { return text(id, false, false); }
std::string SizeTable::kernel_text(SizeId id) const { return text(id, true, true); }

std::vector<std::pair<std::string, std::string>> SizeTable::dimension_names() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& name : names_) all.emplace_back(name, upper(name));
  return all;
}

std::vector<std::pair<std::string, ByExample>> SizeTable::dimensions() const {
  std::vector<std::pair<std::string, ByExample>> all;
  for (const Size& size : sizes_) {
    if (size.kind == Kind::Dimension) all.emplace_back(size.name, size.values);
  }
  return all;
}

}  // namespace passnet::author
