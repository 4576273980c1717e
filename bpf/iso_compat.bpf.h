/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where kernels and compilers differ, said once.
 *
 * inode_setattr, inode_setxattr and inode_removexattr took no idmap argument in one form or another
 * before 6.3 (c1632a0f1120 "fs: port ->setattr() to pass mnt_idmap" and its series): the dentry is
 * argument 0 before it and argument 1 after it for setattr, and argument 1 for the xattr hooks on
 * both. Userspace loads the variant that the running kernel's BTF shows.
 */
#ifndef ISO_COMPAT_BPF_H
#define ISO_COMPAT_BPF_H

/*
 * The error of a hook must reach the verifier as a constant it can bound: `cond ? -1 : 0` becomes a
 * negation that 6.12 cannot bound to [-4095, 0] (clang 14), hence the barrier.
 */
static __always_inline int iso_refuse(int error)
{
	int r;

	switch (error) {
	case EPERM:
		asm volatile("%0 = -1" : "=r"(r));
		return r;
	case EROFS:
		asm volatile("%0 = -30" : "=r"(r));
		return r;
	case ENOMEM:
		asm volatile("%0 = -12" : "=r"(r));
		return r;
	default:
		asm volatile("%0 = -13" : "=r"(r));
		return r;
	}
}

/* A kernel address as a number to count with: of one with a type the verifier allows no sums. */
static __always_inline __u32 iso_low_half(__u64 address)
{
	__u64 low;

	asm volatile("r0 = %1; w0 = w0; %0 = r0" : "=r"(low) : "r"(address) : "r0");
	return (__u32)low;
}

/* Takes a word into a hash; two products, as of one the upper bit's way through is foreseeable. */
static __always_inline __u64 iso_mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93ull;
	return hash ^ hash >> 32;
}

/* Keeps the compiler from re-deriving a bound that the verifier of 6.1 then cannot see. */
#define iso_barrier(x) asm volatile("" : "+r"(x))

#endif
