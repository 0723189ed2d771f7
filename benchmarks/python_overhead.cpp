// A hand-written extension with one fused kernel: a function of Python that takes two tensors and returns relu(x + y).
// Built and timed by python_overhead.py.
#include <ATen/ops/empty_like.h>
#include <Python.h>
#include <torch/csrc/autograd/python_variable.h>

namespace {

PyObject* add_relu(PyObject*, PyObject* const* args, Py_ssize_t) {
  const at::Tensor& x = THPVariable_Unpack(args[0]);
  const at::Tensor& y = THPVariable_Unpack(args[1]);
  at::Tensor out = at::empty_like(x);
  const float* a = x.const_data_ptr<float>();
  const float* b = y.const_data_ptr<float>();
  auto* c = out.mutable_data_ptr<float>();
  const int64_t count = x.numel();
  for (int64_t i = 0; i < count; ++i) c[i] = a[i] + b[i] > 0 ? a[i] + b[i] : 0;
  return PyTuple_Pack(1, THPVariable_Wrap(std::move(out)));
}

PyMethodDef methods[] = {
    {"add_relu", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(add_relu)), METH_FASTCALL, ""},
    {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT, "by_hand", "", -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_by_hand() { return PyModule_Create(&definition); }
