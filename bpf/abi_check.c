/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compiled by the host's compiler for the assertions in iso_abi_check.h; holds no code. */
#include "iso_abi.h"

typedef int iso_abi_check_is_not_empty;
