# cmake -DCMAKE_TOOLCHAIN_FILE=.../share/waymark/cmake/toolchain.cmake: builds a project with `waymark cc` and `waymark c++`.
get_filename_component(_waymark_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(CMAKE_C_COMPILER "${_waymark_prefix}/bin/waymark-cc")
set(CMAKE_CXX_COMPILER "${_waymark_prefix}/bin/waymark-c++")
list(APPEND CMAKE_PREFIX_PATH "${_waymark_prefix}")
unset(_waymark_prefix)
