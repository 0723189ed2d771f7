// Names the values of a kernel after those of the pattern, for readers.
#pragma once

#include <map>
#include <set>
#include <string>

#include "author/define/definitions.h"

namespace passnet::author {

class ValueNames {
 public:
  explicit ValueNames(const Definitions& definitions);

  /// Nothing else is called so from now on.
  void take(const std::string& name) { taken_.insert(name); }
  /// The stem, or where that is taken the stem and a number.
  std::string fresh(const std::string& stem);
  /// After the tensor that it is an element of, or after what is done. The same wherever it is asked for.
  std::string of(ExprId id);
  /// Makes of() find another name for it.
  void forget(ExprId id) { known_.erase(id); }
  /// Returns the name of an array of such values.
  std::string array_of(ExprId id, const std::string& what) { return fresh(stem_of(id) + "_" + what); }

 private:
  std::string stem_of(ExprId id) const;
  /// Returns the name of an index as a real number: that of the size or of the place along it.
  std::string name_of_place(IndexId place) const;

  const Definitions& definitions_;
  std::set<std::string, std::less<>> taken_;
  std::map<ExprId, std::string> known_;
};

}  // namespace passnet::author
