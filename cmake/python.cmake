# PASSNET_PYTHON: the Python that has PyTorch; runs the Python tests.
# PASSNET_TORCH_DIR: the directory of its `torch` package, with include/ and lib/libtorch_cpu.so. No Python is started here
# when scripts/bootstrap gave both; otherwise the environment that it made is taken, else `python3`.
if(DEFINED ENV{PASSNET_HOME})
  set(passnet_home $ENV{PASSNET_HOME})
else()
  set(passnet_home $ENV{HOME}/.cache/passnet)
endif()
find_program(PASSNET_PYTHON NAMES python3 HINTS ${passnet_home}/venv/bin
  DOC "the Python that has PyTorch")
if(NOT PASSNET_TORCH_DIR AND PASSNET_WITH_TORCH)
  execute_process(COMMAND ${PASSNET_PYTHON} -c
    "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '', end='')"
    OUTPUT_VARIABLE passnet_torch_dir)
  set(PASSNET_TORCH_DIR "${passnet_torch_dir}" CACHE PATH "the directory of the Python package torch" FORCE)
endif()
if(PASSNET_WITH_TORCH AND NOT EXISTS "${PASSNET_TORCH_DIR}/lib/libtorch_cpu.so")
  message(FATAL_ERROR "no PyTorch: '${PASSNET_TORCH_DIR}/lib/libtorch_cpu.so' does not exist.\n"
    "Run scripts/bootstrap, or give -DPASSNET_TORCH_DIR=DIR (the directory of the Python package torch), "
    "or leave the worker out with -DPASSNET_WITH_TORCH=OFF.")
endif()
