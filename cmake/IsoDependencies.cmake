# SPDX-License-Identifier: BSD-2-Clause
# Every library comes through pkg-config, every tool through find_program; a missing one is named
# with the Debian package that brings it, and all missing ones are named at once.

find_program(PKG_CONFIG_EXECUTABLE NAMES pkg-config)
if(NOT PKG_CONFIG_EXECUTABLE)
	message(FATAL_ERROR "pkg-config is missing; install it: apt-get install pkg-config")
endif()
find_package(PkgConfig REQUIRED)

set(iso_missing "")

# iso_library(NAME MODULE MINIMUM PACKAGE): imported target PkgConfig::NAME
macro(iso_library name module minimum package)
	pkg_check_modules(${name} QUIET IMPORTED_TARGET "${module}>=${minimum}")
	if(NOT ${name}_FOUND)
		list(APPEND iso_missing "${module} >= ${minimum}|${package}")
	endif()
endmacro()

macro(iso_tool variable package)
	find_program(${variable} NAMES ${ARGN} PATHS /usr/sbin /usr/local/sbin)
	if(NOT ${variable})
		list(APPEND iso_missing "${ARGN}|${package}")
	endif()
endmacro()

iso_library(LIBBPF libbpf 1.1 libbpf-dev)
iso_library(LIBELF libelf 0.188 libelf-dev)
iso_library(ZLIB zlib 1.2 zlib1g-dev)
iso_library(JANSSON jansson 2.14 libjansson-dev)
iso_library(CRYPTO libcrypto 3.0 libssl-dev)
iso_library(SECCOMP libseccomp 2.5 libseccomp-dev)
iso_library(SYSTEMD libsystemd 252 libsystemd-dev)
iso_tool(ISO_CLANG clang-14 clang-14 clang)
iso_tool(ISO_LLVM_STRIP llvm-14 llvm-strip-14 llvm-strip)
iso_tool(ISO_BPFTOOL bpftool bpftool)
if(BUILD_TESTING OR NOT DEFINED BUILD_TESTING)
	iso_library(CMOCKA cmocka 1.1 libcmocka-dev)
endif()

if(iso_missing)
	set(text "")
	set(packages "")
	foreach(row IN LISTS iso_missing)
		string(REPLACE "|" ";" cells "${row}")
		list(GET cells -1 package)
		list(GET cells 0 what)
		string(APPEND text "\n  ${what}  (Debian package ${package})")
		list(APPEND packages ${package})
	endforeach()
	list(JOIN packages " " packages)
	message(FATAL_ERROR "Missing:${text}\nInstall them all: apt-get install ${packages}")
endif()
