/* SPDX-License-Identifier: BSD-2-Clause */
/* What a task finds itself to be. Each is 0 when it is as it must be, EBADE when it is not. */
#include "probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static int as_it_must(int ok)
{
	return ok ? 0 : EBADE;
}

static long number(const char *text)
{
	return strtol(text, NULL, 10);
}

/* Nothing but 0, 1, 2 and the descriptor that looks. Far numbers too. */
static int descriptors(char **w)
{
	DIR *d = opendir("/proc/self/fd");
	int others = 0;

	(void)w;
	if (!d)
		return CANNOT;
	for (struct dirent *e; (e = readdir(d));)
		if (*e->d_name != '.' && number(e->d_name) > 2 && number(e->d_name) != dirfd(d))
			others++;
	closedir(d);
	for (int fd = 3; fd < 65536; fd++)
		others += fcntl(fd, F_GETFD) >= 0;
	return as_it_must(!others);
}

/* Standard descriptors are pipes of isod's, and nothing of the caller's. */
static int standard_descriptors(char **w)
{
	struct stat st;

	(void)w;
	if (fstat(0, &st) || !S_ISCHR(st.st_mode))
		return EBADE;
	for (int fd = 1; fd < 3; fd++)
		if (fstat(fd, &st) || !S_ISFIFO(st.st_mode))
			return EBADE;
	return 0;
}

/* Only these names, and none of their values from the caller (it has SECRET=caller). */
static int environment(char **w)
{
	/* what the sandbox gives to every task; and CASE, of the manifest */
	static const char *const names[] = {"PATH=",
					    "HOME=",
					    "LANG=",
					    "TMPDIR=",
					    "USER=",
					    "LOGNAME=",
					    "CASE=",
					    "GIT_CONFIG_NOSYSTEM=",
					    "GIT_TERMINAL_PROMPT=",
					    "DOCKER_CONFIG=",
					    "NPM_CONFIG_USERCONFIG=",
					    "NPM_CONFIG_GLOBALCONFIG=",
					    "PIP_CONFIG_FILE="};
	size_t n = 0;

	(void)w;
	for (char **e = environ; *e; e++, n++) {
		size_t i = 0;

		while (i < sizeof names / sizeof *names &&
		       strncmp(*e, names[i], strlen(names[i])) != 0)
			i++;
		if (i == sizeof names / sizeof *names || strstr(*e, "caller"))
			return EBADE;
	}
	return as_it_must(n > 3);
}

static int read_line(const char *name, char *out, size_t size)
{
	FILE *f = fopen("/proc/self/status", "re");
	size_t n = strlen(name);
	int found = 0;

	while (f && !found && fgets(out, (int)size, f))
		found = !strncmp(out, name, n);
	if (f)
		fclose(f);
	return found;
}

static int capabilities(char **w)
{
	static const char *const sets[] = {"CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"};
	char line[128];

	(void)w;
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
		if (!read_line(sets[i], line, sizeof line) ||
		    strtoull(line + strlen(sets[i]), NULL, 16))
			return EBADE;
	return 0;
}

static int no_new_privileges(char **w)
{
	char line[128];

	(void)w;
	return as_it_must(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 &&
			  read_line("Seccomp:", line, sizeof line) && strstr(line, "2"));
}

static int ids(char **w)
{
	uid_t r, e, s;
	gid_t groups[64];
	int n = getgroups(64, groups);

	(void)w;
	if (getresuid(&r, &e, &s) || r != 1000 || e != 1000 || s != 1000 || getgid() != 1000)
		return EBADE;
	for (int i = 0; i < n; i++)
		if (groups[i] != 1000)
			return EBADE;
	return as_it_must(n >= 0);
}

/* The host's root is nobody here: no file is owned by an id that is mapped but ours and isoinit's.
 */
static int host_root(char **w)
{
	struct stat st;

	return stat(w[0], &st) ? CANNOT : as_it_must(st.st_uid == 65534);
}

static int core_dumps(char **w)
{
	struct rlimit limit;

	(void)w;
	return as_it_must(!getrlimit(RLIMIT_CORE, &limit) && limit.rlim_cur == 1 &&
			  limit.rlim_max == 1);
}

static int pid_one(char **w)
{
	(void)w;
	return as_it_must(getppid() > 0 && getpid() > 1 && getpid() < 4096);
}

/* Entries of /proc that are processes: none but this sandbox's. */
static int processes(char **w)
{
	DIR *d = opendir("/proc");
	int n = 0;

	(void)w;
	if (!d)
		return CANNOT;
	for (struct dirent *e; (e = readdir(d));)
		n += number(e->d_name) > 0;
	closedir(d);
	return as_it_must(n > 0 && n < 6);
}

static int working_directory(char **w)
{
	char path[256];

	return as_it_must(getcwd(path, sizeof path) && !strcmp(path, w[0]));
}

static int mask(char **w)
{
	(void)w;
	return as_it_must(umask(0) == 022);
}

static int readable(char **w)
{
	char text[64];
	int fd = open(w[0], O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
	int e = errno;

	close(fd);
	return n < 0 ? e : as_it_must(n > 0);
}

const struct probe_verb probe_state_verbs[] = {
	{"descriptors", descriptors},
	{"standard-descriptors", standard_descriptors},
	{"environment", environment},
	{"capabilities", capabilities},
	{"no-new-privileges", no_new_privileges},
	{"ids", ids},
	{"host-root", host_root},
	{"core-dumps", core_dumps},
	{"pid-one", pid_one},
	{"processes", processes},
	{"working-directory", working_directory},
	{"umask", mask},
	{"readable", readable},
	{NULL, NULL},
};
