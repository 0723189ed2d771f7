# torch::torch_cpu and torch::c10: the two libraries of PyTorch that the worker links, from the Python package in
# PASSNET_TORCH_DIR (see cmake/python.cmake). libtorch_cpu finds the libraries beside it by its own search path.
if(TARGET torch::torch_cpu)
  return()
endif()
foreach(library torch_cpu c10)
  add_library(torch::${library} SHARED IMPORTED GLOBAL)
  set_target_properties(torch::${library} PROPERTIES
    IMPORTED_LOCATION ${PASSNET_TORCH_DIR}/lib/lib${library}.so
    INTERFACE_INCLUDE_DIRECTORIES "${PASSNET_TORCH_DIR}/include;${PASSNET_TORCH_DIR}/include/torch/csrc/api/include")
endforeach()
set_target_properties(torch::torch_cpu PROPERTIES INTERFACE_LINK_LIBRARIES torch::c10)
