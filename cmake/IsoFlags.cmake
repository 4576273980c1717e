# SPDX-License-Identifier: BSD-2-Clause
# Compiler and linker flags, once. Targets take them through iso_target().

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_library(iso_flags INTERFACE)
target_compile_definitions(iso_flags INTERFACE _GNU_SOURCE ISO_VERSION="${PROJECT_VERSION}")
target_include_directories(iso_flags INTERFACE
	${PROJECT_SOURCE_DIR}/userspace ${PROJECT_SOURCE_DIR}/bpf ${PROJECT_BINARY_DIR}/generated)
target_compile_options(iso_flags INTERFACE
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
	-Wwrite-strings -Wundef -Wformat=2 -Wvla -fno-strict-aliasing -fno-common)

if(ISO_HARDEN)
	target_compile_options(iso_flags INTERFACE
		-Werror -O2 -fstack-protector-strong -fstack-clash-protection
		-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fcf-protection=full)
	target_link_options(iso_flags INTERFACE LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
endif()
if(ISO_SANITIZE)
	target_compile_options(iso_flags INTERFACE
		-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
	target_link_options(iso_flags INTERFACE -fsanitize=address,undefined)
endif()
if(ISO_FUZZ)
	# libFuzzer sees only code that is instrumented: the libraries too, not the target alone
	target_compile_options(iso_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(ISO_COVERAGE)
	target_compile_options(iso_flags INTERFACE --coverage -O0)
	target_link_options(iso_flags INTERFACE --coverage)
endif()

# iso_target(TARGET [STATIC_WHEN_ASKED] [LIBS ...])
function(iso_target target)
	cmake_parse_arguments(arg "STATIC_WHEN_ASKED" "" "LIBS" ${ARGN})
	get_target_property(kind ${target} TYPE)
	target_link_libraries(${target} PRIVATE iso_flags)
	if(arg_LIBS)
		target_link_libraries(${target} PUBLIC ${arg_LIBS})
	endif()
	if(kind STREQUAL "EXECUTABLE")
		if(arg_STATIC_WHEN_ASKED AND ISO_STATIC)
			target_compile_options(${target} PRIVATE -fPIE)
			target_link_options(${target} PRIVATE -static-pie)
		else()
			target_link_options(${target} PRIVATE -pie)
		endif()
	endif()
endfunction()

# iso_program(TARGET): a program of the product, beside its siblings in bin/ as when installed
function(iso_program target)
	set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

# iso_unit_test(NAME [ROOT] SOURCES ... LIBS ...): a cmocka program, label `unit`; with ROOT it needs
# namespaces, mounts or other users, and has the label `root`
function(iso_unit_test name)
	cmake_parse_arguments(arg "ROOT" "" "SOURCES;LIBS" ${ARGN})
	set(label unit)
	if(arg_ROOT)
		set(label root)
	endif()
	if(NOT BUILD_TESTING)
		return()
	endif()
	add_executable(${name} ${arg_SOURCES})
	iso_target(${name} LIBS ${arg_LIBS} PkgConfig::CMOCKA)
	add_test(NAME ${name} COMMAND ${name})
	set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 300
		ENVIRONMENT "ISO_SOURCE_DIR=${PROJECT_SOURCE_DIR};ISO_BINARY_DIR=${PROJECT_BINARY_DIR}")
endfunction()
