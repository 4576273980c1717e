// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ends the guest in order: syncs, then writes to QEMU's isa-debug-exit port.
 * The number is fixed and not 0; it never carries a command's status (QEMU's
 * own failure would look like 0, and it keeps only 7 bits).
 */
#include <stdio.h>
#include <sys/io.h>
#include <unistd.h>

#define PORT 0x501
#define ENDED_IN_ORDER 0x2a

int main(void)
{
	sync();
	if (ioperm(PORT, 4, 1) < 0) {
		perror("guest-exit: ioperm");
		return 1;
	}
	outl(ENDED_IN_ORDER, PORT);
	for (;;)
		pause();
}
