/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The one BPF object: areas in the order in which they build on each other. */
#define __bpf__ 1
#include "iso_kernel.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>

#include "iso_abi.h"
#include "iso_compat.bpf.h"
#include "iso_maps.bpf.h"
#include "identity.bpf.h"
#include "account.bpf.h"
#include "path.bpf.h"
#include "event.bpf.h"
#include "call.bpf.h"
#include "guard.bpf.h"
#include "walk.bpf.h"
#include "judge.bpf.h"
#include "file.bpf.h"
#include "tree.bpf.h"
#include "exec.bpf.h"
#include "net.bpf.h"
#include "surface.bpf.h"
#include "vfs.bpf.h"
#include "lock.bpf.h"
#include "installer.bpf.h"

char iso_license[] SEC("license") = "Dual BSD/GPL";
