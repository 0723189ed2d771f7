#include "convert.h"

#include <torch/csrc/autograd/python_variable.h>

#include <nlohmann/json.hpp>

#include "base/json/json.h"
#include "runtime/device/launch_files.h"

namespace passnet::python {

namespace {

PyObject* to_python(const c10::IValue& value) {
  if (value.isTensor()) return THPVariable_Wrap(value.toTensor());
  if (value.isNone()) return Py_NewRef(Py_None);
  if (value.isBool()) return PyBool_FromLong(value.toBool() ? 1 : 0);
  if (value.isInt()) return PyLong_FromLongLong(value.toInt());
  if (value.isDouble()) return PyFloat_FromDouble(value.toDouble());
  if (value.isList()) return to_tuple(value.toList().vec());
  if (value.isTuple()) return to_tuple(value.toTupleRef().elements().vec());
  PyErr_Format(PyExc_TypeError, "the graph returned a value of type %s, expected tensors and numbers",
               value.tagKind().c_str());
  return nullptr;
}

PyObject* text(const std::string& value) {
  return PyUnicode_DecodeUTF8(value.data(), static_cast<Py_ssize_t>(value.size()), "replace");
}

}  // namespace

PyObject* to_tuple(const std::vector<c10::IValue>& values) {
  PyObject* const tuple = PyTuple_New(static_cast<Py_ssize_t>(values.size()));
  for (size_t i = 0; tuple != nullptr && i < values.size(); ++i) {
    PyObject* const element = to_python(values[i]);
    if (element == nullptr) {
      Py_DECREF(tuple);
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), element);
  }
  return tuple;
}

PyObject* raise_error(const Error& error) {
  PyObject* const module = PyImport_ImportModule("passnet.errors");
  PyObject* const type = module != nullptr ? PyObject_GetAttrString(module, "Error") : nullptr;
  Py_XDECREF(module);
  if (type == nullptr) return nullptr;
  const SourceLoc at = error.at.value_or(SourceLoc{});
  PyObject* const raised =
      PyObject_CallFunction(type, "NNNN(NII)", text(error.message), text(failure_kind(error)), text(error.hint),
                            text(to_string(error)), text(at.file), at.line, at.column);
  if (raised != nullptr) PyErr_SetObject(type, raised);
  Py_XDECREF(raised);
  Py_DECREF(type);
  return nullptr;
}

Result<runtime::UsedGraph::Source> read_source(std::string model, const std::string& plan) {
  const Json json = try_parse_json(plan);
  if (!json.is_object()) return bad_input("the plan is not understood: expected a JSON object");
  PASSNET_TRY(runtime::LaunchFiles files, runtime::launch_files_from_json(json.value("lists", Json::array()),
                                                                          json.value("kernels", Json::array())));
  return runtime::UsedGraph::Source{std::move(model), std::move(files.lists), std::move(files.kernels), {}};
}

}  // namespace passnet::python
