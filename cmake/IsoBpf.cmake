# SPDX-License-Identifier: BSD-2-Clause
# iso_bpf_object(NAME SOURCE): compiles SOURCE for the BPF target with a dependency file, makes
# generated/NAME.skel.h from it, and gives the interface target NAME_skeleton.

function(iso_bpf_object name source)
	set(object ${PROJECT_BINARY_DIR}/bpf/${name}.bpf.o)
	set(skeleton ${PROJECT_BINARY_DIR}/generated/${name}.skel.h)
	file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/bpf ${PROJECT_BINARY_DIR}/generated)
	get_filename_component(source ${source} ABSOLUTE)
	execute_process(COMMAND ${CMAKE_C_COMPILER} -print-multiarch OUTPUT_VARIABLE multiarch
		OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
	add_custom_command(
		OUTPUT ${object}
		COMMAND ${ISO_CLANG} -target bpf -mcpu=v3 -g -O2 -Wall -Wextra -Wno-unused-parameter -Werror
			-D__TARGET_ARCH_x86 -I${PROJECT_SOURCE_DIR}/bpf -isystem /usr/include/${multiarch}
			-MD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
		COMMAND ${ISO_LLVM_STRIP} -g ${object}
		DEPENDS ${source}
		DEPFILE ${object}.d
		COMMENT "BPF object ${name}"
		VERBATIM)
	add_custom_command(
		OUTPUT ${skeleton}
		COMMAND ${ISO_BPFTOOL} gen skeleton ${object} name ${name}_bpf > ${skeleton}.tmp
		COMMAND ${CMAKE_COMMAND} -E rename ${skeleton}.tmp ${skeleton}
		DEPENDS ${object}
		COMMENT "Skeleton ${name}"
		VERBATIM)
	add_custom_target(${name}_skeleton_header DEPENDS ${skeleton})
	add_library(${name}_skeleton INTERFACE)
	add_dependencies(${name}_skeleton ${name}_skeleton_header)
	target_include_directories(${name}_skeleton SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/generated)
	set_property(TARGET ${name}_skeleton_header PROPERTY ISO_OBJECT ${object})
endfunction()
