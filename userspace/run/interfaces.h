/* SPDX-License-Identifier: BSD-2-Clause */
/* The *.varlink files of this folder, compiled in. */
#ifndef ISO_RUN_INTERFACES_H
#define ISO_RUN_INTERFACES_H

extern const char iso_interface_agent[];
extern const char iso_interface_service[];

#define ISO_AGENT_SOCKET "/run/isoctl/io.isoctl.Agent"
#define ISO_AGENT	 "io.isoctl.Agent"

#endif
