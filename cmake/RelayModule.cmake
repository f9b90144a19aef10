# How a folder becomes a library, a namespace and a test program.
#
#   relay_module(broker                  creates relay::broker, and broker_test if there are TESTS
#     SOURCES broker.cc topics.cc
#     PUBLIC  relay::protocol            used in headers of the module
#     PRIVATE SQLite::SQLite3            only in its sources
#     TESTS   broker_test.cc)
#
# The link lines follow the code map of ARCHITECTURE.md. All modules share one include directory, so the compiler accepts any
# #include; tests/layers compares every #include with the code map.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set_property(GLOBAL PROPERTY JOB_POOLS link=2)

find_program(RELAY_CCACHE ccache)
if(RELAY_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${RELAY_CCACHE})
endif()

add_library(relay_flags INTERFACE)
target_include_directories(relay_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(relay_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Werror
  -fno-omit-frame-pointer -fPIE
  $<$<CXX_COMPILER_ID:Clang>:-Wno-gnu-statement-expression -fpch-instantiate-templates>
  $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
target_link_libraries(relay_flags INTERFACE Threads::Threads)
target_link_options(relay_flags INTERFACE -pie)
if(RELAY_SANITIZE)
  target_compile_options(relay_flags INTERFACE -fsanitize=${RELAY_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(relay_flags INTERFACE -fsanitize=${RELAY_SANITIZE})
endif()
if(RELAY_FUZZ)
  target_compile_options(relay_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Test sources are compiled without optimization, which halves the time. The code under test keeps its flags, and so do long
# tests (see relay_test): the linker keeps one copy of an inline function, which may be the test's.
if(RELAY_TESTS)
  add_library(relay_test_flags INTERFACE)
  target_compile_options(relay_test_flags INTERFACE -O0 -U_FORTIFY_SOURCE)  # the C library fortifies only optimized code
  target_link_libraries(relay_test_flags INTERFACE GTest::gtest)
endif()

# One precompiled header for the product, one for the tests: the standard library, fmt, Boost.JSON, GoogleTest.
function(relay_precompiled name headers)
  file(WRITE ${CMAKE_BINARY_DIR}/${name}.cc "")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/${name}.cc)
  target_link_libraries(${name} PRIVATE relay_flags fmt::fmt Boost::json ${ARGN})
  target_precompile_headers(${name} PRIVATE ${headers})
endfunction()
relay_precompiled(relay_pch ${CMAKE_SOURCE_DIR}/cmake/precompiled.h)
if(RELAY_TESTS)
  relay_precompiled(relay_test_pch ${CMAKE_SOURCE_DIR}/cmake/precompiled_test.h relay_test_flags)
endif()

# Targets of the kinds in RELAY_UNITY are compiled as one file, which takes half the time or less: shared headers are read and
# instantiated once. Names in unnamed namespaces must then be unique; relay_apart(one.cc other.cc) compiles sources separately.
# RELAY_UNITY_BATCH splits a target into files of that many sources, so that an edit costs less.
set(RELAY_UNITY_BATCH 0 CACHE STRING "sources of a module that are compiled as one file; 0: all")
function(relay_unity target kind)
  if(kind IN_LIST RELAY_UNITY)
    set(batch 0)
    if(kind STREQUAL modules)
      set(batch ${RELAY_UNITY_BATCH})
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
    # g++ takes what is in an unnamed namespace of an included source for something of a header.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()
function(relay_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

function(relay_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;PUBLIC;PRIVATE;TESTS;TEST_PRIVATE" ${ARGN})
  add_library(relay_${name} STATIC ${arg_SOURCES})
  add_library(relay::${name} ALIAS relay_${name})
  target_link_libraries(relay_${name} PUBLIC relay_flags fmt::fmt Boost::json ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
  target_precompile_headers(relay_${name} REUSE_FROM relay_pch)
  relay_unity(relay_${name} modules)
  if(RELAY_TESTS AND arg_TESTS)
    relay_test(${name}_test LABEL unit SOURCES ${arg_TESTS} LINKS relay::${name} ${arg_TEST_PRIVATE})
  endif()
endfunction()

# Tests whose code runs on more than one thread; they also run under the thread sanitizer.
set(RELAY_THREADED_TESTS store_test net_test api_threads_test)

# Puts a test under its label (`ctest -L unit`) and its program under a target (`ninja tests-unit`), so that a
# sanitizer build builds only what it runs.
function(relay_label name label)
  set(labels ${label})
  if(name IN_LIST RELAY_THREADED_TESTS)
    list(APPEND labels threads)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}")
  foreach(each ${labels})
    if(TARGET ${name})
      add_dependencies(tests-${each} ${name})
    endif()
  endforeach()
endfunction()
if(RELAY_TESTS)
  foreach(label unit simulation corpus cli integration crash threads)
    add_custom_target(tests-${label})
  endforeach()
endif()

# relay_test(NAME LABEL unit SOURCES a_test.cc LINKS relay::x [TIMEOUT 60] [ARGS ...])
function(relay_test name)
  cmake_parse_arguments(arg "" "LABEL;TIMEOUT" "SOURCES;LINKS;ARGS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE relay_flags fmt::fmt Boost::json ${arg_LINKS} GTest::gtest GTest::gtest_main)
  if(arg_LABEL MATCHES "simulation|corpus")  # they run long
    target_precompile_headers(${name} REUSE_FROM relay_pch)
  else()
    target_link_libraries(${name} PRIVATE relay_test_flags)
    target_precompile_headers(${name} REUSE_FROM relay_test_pch)
  endif()
  relay_unity(${name} tests)
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT})
  relay_label(${name} ${arg_LABEL})
endfunction()
