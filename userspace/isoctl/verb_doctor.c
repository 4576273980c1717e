/* SPDX-License-Identifier: BSD-2-Clause */
/* isoctl doctor: what to change on this host, as commands. It changes nothing itself. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "isoctl/features.h"
#include "isoctl/isoctl.h"
#include "isoctl/seal.h"
#include "run/interfaces.h"

#define EXIT_ILL 1

static const char *text(json_t *feature, const char *name)
{
	const char *s = json_string_value(json_object_get(feature, name));

	return s ? s : "";
}

static bool exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

/* Adds words to the kernel's command line, the way this host's boot loader wants it. */
static void print_boot_words(const char *words)
{
	if (exists("/etc/default/grub")) {
		printf("    mkdir -p /etc/default/grub.d\n"
		       "    echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX %s\"' "
		       ">/etc/default/grub.d/isoctl.cfg\n"
		       "    update-grub\n"
		       "    reboot\n",
		       words);
	} else {
		printf("    # add to the kernel command line (this host has no GRUB), then reboot:\n"
		       "    %s\n",
		       words);
	}
}

/* The security modules of now, and bpf behind them: nothing that is on is turned off. */
static void print_lsm(void)
{
	ISO_AUTO_FREE char *active = NULL;
	char words[1024];

	if (iso_read_file(AT_FDCWD, "/sys/kernel/security/lsm", 512, &active, NULL) < 0) {
		printf("    mount -t securityfs securityfs /sys/kernel/security\n"
		       "    isoctl doctor    # again: it reads the list of modules there\n");
		return;
	}
	active[strcspn(active, "\n")] = '\0';
	snprintf(words, sizeof words, "lsm=%s%sbpf", active, *active ? "," : "");
	print_boot_words(words);
}

static void print_cgroup(void)
{
	ISO_AUTO_FREE char *cmdline = NULL;

	if (!exists("/run/systemd/system")) {
		/* Not by umount: what runs now would lose its accounting. */
		print_boot_words("cgroup_no_v1=all");
		printf("    # and let init mount it:\n"
		       "    mount -t cgroup2 cgroup2 /sys/fs/cgroup\n");
		return;
	}
	if (iso_read_file(AT_FDCWD, "/proc/cmdline", 8192, &cmdline, NULL) == 0 &&
	    strstr(cmdline, "systemd.unified_cgroup_hierarchy=0"))
		printf("    # take systemd.unified_cgroup_hierarchy=0 off the command line first\n");
	print_boot_words("systemd.unified_cgroup_hierarchy=1");
}

static void print_ftrace(void)
{
	printf("    sysctl -w kernel.ftrace_enabled=1\n"
	       "    grep -rl ftrace_enabled /etc/sysctl.conf /etc/sysctl.d /usr/lib/sysctl.d   "
	       "# and take it out there\n");
}

static void print_userns(void)
{
	printf("    sysctl -w user.max_user_namespaces=15000\n");
}

static const struct {
	const char *feature;
	void (*print)(void);
} cures[] = {
	{"lsm-bpf", print_lsm},
	{"cgroup2", print_cgroup},
	{"ftrace", print_ftrace},
	{"user-namespaces", print_userns},
};

static void print_cure(json_t *feature)
{
	const char *name = text(feature, "name");

	printf("%s: %s\n", name, text(feature, "sentence"));
	for (size_t i = 0; i < sizeof cures / sizeof *cures; i++) {
		if (strcmp(cures[i].feature, name) == 0) {
			cures[i].print();
			return;
		}
	}
	printf("    # %s\n",
	       *text(feature, "remedy") ? text(feature, "remedy") : "no remedy known");
}

static bool has_group(const char *name)
{
	ISO_AUTO_FREE char *groups = NULL;
	size_t n = strlen(name);

	/* The file alone: a static program does not load name services. */
	if (iso_read_file(AT_FDCWD, "/etc/group", 4u << 20, &groups, NULL) < 0)
		return false;
	for (const char *line = groups; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, n) == 0 && line[n] == ':')
			return true;
	}
	return false;
}

/* What is not needed to seal as root, and is to let others do it. */
static void print_advice(void)
{
	if (!has_group("isoctl"))
		printf("\nfor callers other than root (optional): the group isoctl\n"
		       "    groupadd --system isoctl\n"
		       "    usermod -a -G isoctl USER\n");
	if (!exists("/etc/isoctl/ceiling.json"))
		printf("\nfor callers other than root (optional): what they may ask for\n"
		       "    # write /etc/isoctl/ceiling.json, owned by root, mode 0644: man 5 isoctl-ceiling\n");
	if (!exists(ISO_AGENT_SOCKET))
		printf("\nfor callers other than root, and for speed (optional): isod\n"
		       "    systemctl enable --now isod.socket\n");
}

int verb_doctor(int argc, char **argv)
{
	struct iso_failure f = {0};
	json_t *features, *feature;
	size_t i, missing = 0;

	if (argc > 1)
		return isoctl_usage("doctor", "unexpected argument: %s", argv[1]);
	if (isoctl_features(NULL, &features, &f) < 0) {
		seal_say_failure("failed", &f);
		return EXIT_ILL;
	}
	json_array_foreach (features, i, feature) {
		if (json_is_true(json_object_get(feature, "present")) ||
		    !json_is_true(json_object_get(feature, "required")))
			continue;
		printf("%s", missing++ ? "\n" : "As root, in this order:\n\n");
		print_cure(feature);
	}
	if (!missing)
		printf("this host can enforce everything that is required: nothing to do\n");
	print_advice();
	json_decref(features);
	return fflush(stdout) || missing ? EXIT_ILL : 0;
}
