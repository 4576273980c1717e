/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /etc as the sandbox sees it: made, never the host's. Parts of the host's /etc that a manifest
 * names are mounted below.
 */
#include "sandbox/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

#include "sandbox/raw.h"

#define ETC_SIZE (1u << 20)

static int make_file(struct iso_build *b, int dir, const char *name, const char *text)
{
	int r = iso_storage_file(dir, name, text, b->h->base);

	return r < 0 ? iso_step_error(b, r, ETC, NULL, "cannot make /etc/%s: %m", name) : 0;
}

/* A task sees a machine of its own: the id is drawn for the run. */
static int make_machine_id(struct iso_build *b, int dir)
{
	uint64_t random[2];
	char text[40];

	if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
		return iso_step_error(b, -EIO, ETC, NULL, "no random bytes for /etc/machine-id");
	snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64 "\n", random[0], random[1]);
	return make_file(b, dir, "machine-id", text);
}

static int make_named(struct iso_build *b, int dir)
{
	const struct iso_manifest *m = b->q->manifest;
	char text[8192];
	int r;

	snprintf(text, sizeof text,
		 "root:x:0:0:root:/:/usr/sbin/nologin\n"
		 "task:x:%u:%u:task:%s:/bin/sh\n"
		 "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
		 ISO_TASK_ID, ISO_TASK_ID, m->process.home);
	r = make_file(b, dir, "passwd", text);
	if (r < 0)
		return r;
	snprintf(text, sizeof text, "root:x:0:\ntty:x:5:\ntask:x:%u:\nnogroup:x:65534:\n",
		 ISO_TASK_ID);
	r = make_file(b, dir, "group", text);
	if (r < 0)
		return r;
	snprintf(text, sizeof text, "127.0.0.1\tlocalhost %s\n::1\tlocalhost ip6-localhost\n",
		 m->process.hostname);
	r = make_file(b, dir, "hosts", text);
	if (r < 0)
		return r;
	snprintf(text, sizeof text, "%s\n", m->process.hostname);
	return make_file(b, dir, "hostname", text);
}

int iso_etc_make(struct iso_build *b, size_t tree)
{
	static const struct {
		const char *name, *text;
	} fixed[] = {
		{"nsswitch.conf", "passwd: files\ngroup: files\nshadow: files\nhosts: files\n"
				  "networks: files\nservices: files\nprotocols: files\n"},
		/* no name server: names are resolved by the proxy, or not at all */
		{"resolv.conf", "# no name server in this sandbox\noptions timeout:1 attempts:1\n"},
		{"host.conf", "multi on\n"},
		{"shells", "/bin/sh\n/bin/bash\n"},
		{"profile", "# made for this sandbox\n"},
		{"protocols",
		 "ip 0 IP\nicmp 1 ICMP\ntcp 6 TCP\nudp 17 UDP\nipv6-icmp 58 IPv6-ICMP\n"},
		{"services", "echo 7/tcp\nftp 21/tcp\nssh 22/tcp\nsmtp 25/tcp\ndomain 53/tcp\n"
			     "domain 53/udp\nhttp 80/tcp\nhttps 443/tcp\n"},
	};
	struct iso_tmpfs fs = {
		.size = ETC_SIZE,
		.inodes = 64 + 16 * b->q->policy->tree_count,
		.uid = b->h->base,
		.gid = b->h->base,
		.mode = 0755,
		.attributes = MOUNT_ATTR_NOEXEC,
	};
	int r, fd;

	ISO_FAULT_POINT(b, ETC);
	fd = iso_storage_tmpfs(&fs);
	if (fd < 0)
		return iso_step_error(b, fd, ETC, NULL, "cannot make /etc: %m");
	b->places[tree].fd = fd;
	b->places[tree].own = true;
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
		r = make_file(b, fd, fixed[i].name, fixed[i].text);
		if (r < 0)
			return r;
	}
	r = make_machine_id(b, fd);
	return r < 0 ? r : make_named(b, fd);
}
