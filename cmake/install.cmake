# `cmake --install`: the programs in bin (apps/CMakeLists.txt), include/passnet (what kernels include), share/passnet/samples,
# share/passnet/python (the scripts that capture models, call Triton and run host code of passes).
# All run from anywhere: passnet finds the other programs beside itself and the headers in ../include; the worker finds
# libtorch through its run path.
install(DIRECTORY include/passnet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.cpp" PATTERN "*.cu")
install(FILES include/passnet_bundle.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY samples DESTINATION ${CMAKE_INSTALL_DATADIR}/passnet)
install(DIRECTORY python/passnet_capture python/passnet_triton python/passnet_candidate python/passnet_pytorch DESTINATION ${CMAKE_INSTALL_DATADIR}/passnet/python FILES_MATCHING PATTERN "*.py")
