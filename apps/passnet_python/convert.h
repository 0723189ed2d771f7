// Values between Python and the runtime. Internal to the extension.
#pragma once

#include <Python.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/use/used_graph.h"

namespace passnet::python {

/// A new tuple of what a graph returned; null with an exception set: a value that Python has no form for.
PyObject* to_tuple(const std::vector<c10::IValue>& values);

/// Sets passnet.errors.Error with the fields of `error`. Returns null.
PyObject* raise_error(const Error& error);

/// plan: {"lists": […], "kernels": [[{"object", "entry", "parameters", "sha256"}]]}, as `passnet pass build --json` has it;
/// {}: no passes. Errors: BadInput.
Result<runtime::UsedGraph::Source> read_source(std::string model, const std::string& plan);

}  // namespace passnet::python
