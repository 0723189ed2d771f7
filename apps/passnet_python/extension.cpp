// passnet._C: graphs that run in the process of Python, in one call each. docs/python.md
#include <Python.h>
#include <torch/csrc/autograd/python_variable.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "bundle/target.h"
#include "convert.h"
#include "runtime/use/used_bundle.h"
#include "runtime/use/used_graph.h"

namespace {

using namespace passnet;
using runtime::Callable;
using runtime::UsedBundle;
using runtime::UsedGraph;

struct PyGraph {
  PyObject_HEAD vectorcallfunc call;
  Callable* graph;
};

/// Frees Python's lock while it lives.
class WithoutLock {
 public:
  WithoutLock() : state_(PyEval_SaveThread()) {}
  ~WithoutLock() { PyEval_RestoreThread(state_); }
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;

 private:
  PyThreadState* state_;
};

/// Runs `work` and turns what it throws into an exception of Python's.
template <class Work>
PyObject* guarded(Work&& work) {
  try {
    return work();
  } catch (const std::exception& problem) {
    if (PyErr_Occurred() == nullptr) PyErr_SetString(PyExc_RuntimeError, problem.what());
    return nullptr;
  }
}

PyObject* call_graph(PyObject* self, PyObject* const* args, size_t flags, PyObject* keywords) {
  Callable& graph = *reinterpret_cast<PyGraph*>(self)->graph;
  const auto count = static_cast<size_t>(PyVectorcall_NARGS(flags));
  if (count != graph.input_names().size() || (keywords != nullptr && PyTuple_GET_SIZE(keywords) != 0)) {
    PyErr_Format(PyExc_TypeError, "found %zu arguments, expected %zu tensors and no keywords", count,
                 graph.input_names().size());
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    std::vector<at::Tensor> inputs;
    inputs.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      if (!THPVariable_Check(args[i])) {
        PyErr_Format(PyExc_TypeError, "argument '%s': found %.100s, expected a tensor", graph.input_names()[i].c_str(),
                     Py_TYPE(args[i])->tp_name);
        return nullptr;
      }
      inputs.push_back(THPVariable_Unpack(args[i]));
    }
    std::optional<Result<std::vector<c10::IValue>>> outputs;
    {
      const WithoutLock without;
      outputs.emplace(graph.call(std::move(inputs)));
    }
    return *outputs ? python::to_tuple(**outputs) : python::raise_error(outputs->error());
  });
}

/// A new object that owns `callable`.
PyObject* make(PyTypeObject* type, std::unique_ptr<Callable> callable) {
  auto* const self = reinterpret_cast<PyGraph*>(type->tp_alloc(type, 0));
  if (self == nullptr) return nullptr;
  self->call = call_graph;
  self->graph = callable.release();
  return reinterpret_cast<PyObject*>(self);
}

PyTypeObject& the_graph_type();

PyObject* new_graph(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  const char* names[] = {"model", "plan", "gpu", nullptr};
  const char* model = nullptr;
  const char* plan = nullptr;
  int gpu = -1;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|si", const_cast<char**>(names), &model, &plan, &gpu))
    return nullptr;
  return guarded([&]() -> PyObject* {
    Result<UsedGraph::Source> source = python::read_source(model, plan == nullptr ? "{}" : plan);
    if (!source) return python::raise_error(source.error());
    if (gpu >= 0) source->gpu = static_cast<c10::DeviceIndex>(gpu);
    std::optional<Result<std::unique_ptr<UsedGraph>>> loaded;
    {
      const WithoutLock without;
      loaded.emplace(UsedGraph::load(std::move(*source)));
    }
    if (!*loaded) return python::raise_error(loaded->error());
    return make(type, std::move(**loaded));
  });
}

PyObject* load_bundle(PyObject*, PyObject* path) {
  const char* const text = PyUnicode_AsUTF8(path);
  if (text == nullptr) return nullptr;
  return guarded([&]() -> PyObject* {
    Result<std::unique_ptr<UsedBundle>> loaded = UsedBundle::load(text);
    if (!loaded) return python::raise_error(loaded.error());
    const bundle::Manifest& manifest = (*loaded)->manifest();
    const std::string facts = compact(Json{{"graph", manifest.graph},
                                           {"passnet", manifest.passnet},
                                           {"torch", manifest.torch},
                                           {"passes", manifest.passes},
                                           {"weights", manifest.weights},
                                           {"why", (*loaded)->why_not()}});
    return Py_BuildValue("Ns", make(&the_graph_type(), std::move(*loaded)), facts.c_str());
  });
}

PyObject* target_runs(PyObject*, PyObject* args) {
  const char* target = nullptr;
  const char* processor = nullptr;
  if (!PyArg_ParseTuple(args, "ss", &target, &processor)) return nullptr;
  return PyBool_FromLong(bundle::runs_here(target, processor) ? 1 : 0);
}

void free_graph(PyObject* self) {
  // At the end of the process the device may be gone already, and what the graph waits for with it.
  if (!_Py_IsFinalizing()) delete reinterpret_cast<PyGraph*>(self)->graph;
  Py_TYPE(self)->tp_free(self);
}

PyObject* inputs_of(PyObject* self, void*) {
  const std::vector<std::string>& names = reinterpret_cast<PyGraph*>(self)->graph->input_names();
  PyObject* const tuple = PyTuple_New(static_cast<Py_ssize_t>(names.size()));
  for (size_t i = 0; tuple != nullptr && i < names.size(); ++i)
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), PyUnicode_FromString(names[i].c_str()));
  return tuple;
}

PyObject* operators_of(PyObject* self, void*) {
  return PyLong_FromSize_t(reinterpret_cast<PyGraph*>(self)->graph->operator_calls());
}

PyObject* sites_of(PyObject* self, void*) {
  return PyLong_FromSize_t(reinterpret_cast<PyGraph*>(self)->graph->sites());
}

PyObject* may_write_of(PyObject* self, void*) {
  return PyBool_FromLong(reinterpret_cast<PyGraph*>(self)->graph->may_write() ? 1 : 0);
}

PyObject* mode_of(PyObject* self, void*) {
  const auto [mode, why] = reinterpret_cast<PyGraph*>(self)->graph->mode();
  return Py_BuildValue("(ss)", mode.c_str(), why.c_str());
}

PyGetSetDef graph_fields[] = {
    {"inputs", inputs_of, nullptr, "The names of its arguments.", nullptr},
    {"operators", operators_of, nullptr, "How many operators and kernels one call runs.", nullptr},
    {"sites", sites_of, nullptr, "How many of these are places where a pass was applied.", nullptr},
    {"may_write", may_write_of, nullptr, "Whether a call may write to its arguments.", nullptr},
    {"mode", mode_of, nullptr,
     "How the last call ran: 'operators', or as a recording of a GPU's: 'direct', 'graph', 'graph with copies'; and "
     "why "
     "it was not recorded.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyTypeObject make_graph_type() {
  PyTypeObject type{};
  type.ob_base.ob_base.ob_refcnt = 1;
  type.tp_name = "passnet._C.Graph";
  type.tp_doc =
      "Graph(model, plan='{}', gpu=-1): a graph that runs in this process, on the CPU or the CUDA device of that "
      "number; call "
      "it with one tensor per input.";
  type.tp_basicsize = sizeof(PyGraph);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL;
  type.tp_vectorcall_offset = offsetof(PyGraph, call);
  type.tp_call = PyVectorcall_Call;
  type.tp_new = new_graph;
  type.tp_dealloc = free_graph;
  type.tp_getset = graph_fields;
  return type;
}

// Made at the first use: libpassnet.so is linked from these objects without Python.
PyTypeObject& the_graph_type() {
  static PyTypeObject type = make_graph_type();
  return type;
}

PyMethodDef functions[] = {
    {"load_bundle", load_bundle, METH_O, "(graph, facts as JSON) of the bundle at a path."},
    {"target_runs", target_runs, METH_VARARGS, "Whether this processor runs kernels of (target, processor)."},
    {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "passnet._C",
                          "Graphs that run in this process.",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__C() {
  if (PyType_Ready(&the_graph_type()) < 0) return nullptr;
  PyObject* const module = PyModule_Create(&definition);
  if (module == nullptr) return nullptr;
  if (PyModule_AddObjectRef(module, "Graph", reinterpret_cast<PyObject*>(&the_graph_type())) < 0) {
    Py_DECREF(module);
    return nullptr;
  }
  return module;
}
