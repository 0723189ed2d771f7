// weight_meta.py and input_meta.py: what is recorded of each tensor argument.
// Source: docs/graphs.md, "weight_meta.py and input_meta.py", which lists the attributes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/dtype.h"
#include "ir/graph.h"

namespace passnet::graphdir {

/// Contents that may take the place of recorded ones without another shape anywhere in the graph: any of the record's
/// kind, the same elements in another order, or none. No part of the files: analysis/shape_inputs.h.
enum class Redraw { Any, Order, None };

/// One `class Program_…_tensor_meta_X:` record.
struct TensorMeta {
  std::string class_name;     // "Program_weight_tensor_meta_L_x_": decides the draw order of replay
  std::string name;           // argument of forward
  std::string original_name;  // before renaming; may be empty
  std::vector<int64_t> shape;
  ir::DType dtype = ir::DType::Float32;
  std::string device;                             // as recorded, "cuda:0"
  bool has_mean = false, has_std = false;         // the attribute is written (it may still be None)
  std::optional<double> mean, stddev;             // nullopt: None
  std::optional<std::vector<int64_t>> int_data;   // `data` of integer and bool tensors
  std::optional<std::vector<double>> float_data;  // `data` of floating tensors
  std::optional<double> min_value, max_value;
  Redraw redraw = Redraw::Any;
  SourceLoc at;

  int64_t numel() const;
};

/// The records of a graph, apart as replay draws them.
struct Metas {
  std::vector<TensorMeta> weights;  // weight_meta.py
  std::vector<TensorMeta> inputs;   // input_meta.py; usually empty
};

/// Whether all but the position is the same; nan equals nan.
bool equal(const TensorMeta& a, const TensorMeta& b);

/// file:     names the text in messages.
/// Returns:  the records in the order of the file; none for an empty text.
/// Errors:   BadInput with its place: an unknown attribute, a value of the wrong type, `data` of the wrong length, a
///           negative size, an unknown dtype, a record without name, shape or dtype.
Result<std::vector<TensorMeta>> parse_meta(const std::string& file, std::string_view text);

/// Returns: a text that parse_meta reads back to equal records.
std::string print_meta(const std::vector<TensorMeta>& records);

}  // namespace passnet::graphdir
