# SPDX-License-Identifier: BSD-2-Clause
# cmake -DINPUT=FILE -DOUTPUT=FILE -DNAME=SYMBOL -P text_array.cmake: a text file as a C string.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "(..)" "0x\\1, " bytes "${hex}")
file(WRITE ${OUTPUT} "#include \"run/interfaces.h\"\nconst char ${NAME}[] = {${bytes}0};\n")
