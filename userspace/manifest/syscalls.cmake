# SPDX-License-Identifier: BSD-2-Clause
# Writes ISO_SYSCALL(name) lines for every __NR_name that the compiler's headers define.
execute_process(
	COMMAND ${COMPILER} -dM -E -x c -include asm/unistd.h /dev/null
	OUTPUT_VARIABLE macros
	COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "__NR_[a-z_][a-z0-9_]* [0-9]+" names "${macros}")
list(SORT names)
set(text "")
foreach(name IN LISTS names)
	string(REGEX REPLACE "^__NR_([a-z0-9_]+) .*" "ISO_SYSCALL(\\1)\n" line "${name}")
	string(APPEND text "${line}")
endforeach()
file(WRITE ${OUTPUT} "${text}")
