#include "author/define/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "author/subject/subject.h"
#include "base/text/strings.h"
#include "fx/print.h"

namespace passnet::author {

using ir::Arg;
using ir::ArgKind;

const Arg& Arguments::at(std::string_view name) const {
  static const Arg none = Arg::none();
  for (size_t i = 0; i < call_.args.size(); ++i) {
    if (call_.names[i] == name) return call_.args[i];
  }
  return none;
}

bool Arguments::given(std::string_view name) const { return at(name).kind != ArgKind::None; }

Result<int64_t> Arguments::integer(std::string_view name) const {
  const Arg& arg = at(name);
  if (arg.kind != ArgKind::Int) return unsupported(fmt::format("'{}' is not one whole number", name));
  return arg.integer;
}

Result<bool> Arguments::flag(std::string_view name) const {
  const Arg& arg = at(name);
  if (arg.kind != ArgKind::Bool) return unsupported(fmt::format("'{}' is neither True nor False", name));
  return arg.boolean;
}

Result<std::vector<int64_t>> Arguments::integers(std::string_view name) const {
  const Arg& arg = at(name);
  if (arg.kind == ArgKind::Int) return std::vector{arg.integer};
  std::vector<int64_t> all;
  if (!is_sequence(arg)) return unsupported(fmt::format("'{}' are no whole numbers", name));
  for (const Arg& element : graph_.elements(arg)) {
    if (element.kind != ArgKind::Int) return unsupported(fmt::format("'{}' are no whole numbers", name));
    all.push_back(element.integer);
  }
  return all;
}

Result<int64_t> Arguments::dimension(std::string_view name, int64_t rank) const {
  PASSNET_TRY(int64_t dim, integer(name));
  if (dim < 0) dim += std::max<int64_t>(rank, 1);
  if (dim < 0 || dim >= std::max<int64_t>(rank, 1)) return unsupported(fmt::format("'{}' is no dimension", name));
  return dim;
}

Result<std::vector<int64_t>> Arguments::dimensions(std::string_view name, int64_t rank) const {
  std::vector<int64_t> dims;
  if (given(name)) {
    PASSNET_TRY(dims, integers(name));
  }
  if (dims.empty()) {
    dims.resize(static_cast<size_t>(rank));
    std::iota(dims.begin(), dims.end(), 0);
  }
  for (int64_t& dim : dims) {
    dim += dim < 0 ? rank : 0;
    if (dim < 0 || dim >= rank) return unsupported(fmt::format("'{}' is no dimension", name));
  }
  std::ranges::sort(dims);
  return dims;
}

bool Arguments::hold(std::string_view condition) const {
  for (const std::string_view term : split(condition, ' ')) {
    if (term.empty()) continue;
    const size_t equals = term.find('=');
    for (size_t i = 0; i < call_.args.size(); ++i) {
      if (call_.names[i] == term.substr(0, equals) && fx::print_arg(graph_, call_.args[i]) != term.substr(equals + 1))
        return false;
    }
  }
  return true;
}

}  // namespace passnet::author
