# find_package(Waymark): the target Waymark::Waymark has the directory of <waymark.h>; nothing is linked. Waymark_C_COMPILER and
# Waymark_CXX_COMPILER are `waymark cc` and `waymark c++` in one word, which toolchain.cmake makes the project's compilers.
get_filename_component(_waymark_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(Waymark_C_COMPILER "${_waymark_prefix}/bin/waymark-cc")
set(Waymark_CXX_COMPILER "${_waymark_prefix}/bin/waymark-c++")
if(NOT TARGET Waymark::Waymark)
	add_library(Waymark::Waymark INTERFACE IMPORTED)
	set_target_properties(Waymark::Waymark PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_waymark_prefix}/include")
endif()
unset(_waymark_prefix)
