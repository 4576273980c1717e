/* SPDX-License-Identifier: BSD-2-Clause */
/* What may run, and what may become executable memory. */
#include "probe.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

static int exec_body(void *data)
{
	char **w = data, *environment[] = {NULL};

	execve(w[0], w, environment);
	return errno;
}

/* The exit status of what is executed must be 0: its own failure looks like an errno otherwise. */
static int do_exec(char **w)
{
	return probe_in_child(exec_body, w);
}

static int copy_exec(char **w)
{
	return probe_copy(w[0], w[1]) ? CANNOT : do_exec(w + 1);
}

/* The script w[1], whose interpreter is w[0], a copy of w[2] if that is given. */
static int script(char **w)
{
	char *argv[] = {w[1], NULL};
	int fd = open(w[1], O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0755);
	int ok = fd >= 0 && write(fd, "#!", 2) == 2 &&
		 write(fd, w[0], strlen(w[0])) == (ssize_t)strlen(w[0]) && write(fd, "\n", 1) == 1;

	close(fd);
	if (!ok || (w[2] && probe_copy(w[2], w[0])))
		return CANNOT;
	return do_exec(argv);
}

static int fexec_body(void *data)
{
	char word[] = "program", *argv[] = {word, NULL}, *environment[] = {NULL};

	syscall(SYS_execveat, *(int *)data, "", argv, environment, AT_EMPTY_PATH);
	return errno;
}

static int load(int out, const char *path)
{
	int in = open(path, O_RDONLY | O_CLOEXEC);
	static char buffer[65536];
	ssize_t n = -1;

	while (in >= 0 && (n = read(in, buffer, sizeof buffer)) > 0)
		if (write(out, buffer, (size_t)n) != n)
			break;
	close(in);
	return n ? CANNOT : 0;
}

static int memfd_exec(char **w)
{
	int fd = memfd_create("probe", 0);

	if (fd < 0 || load(fd, w[0]))
		return CANNOT;
	return probe_in_child(fexec_body, &fd);
}

static int fexec(char **w)
{
	int fd = open(w[0], O_PATH);

	return fd < 0 ? CANNOT : probe_in_child(fexec_body, &fd);
}

/* Written, then its name removed, then executed through /proc. */
static int deleted_exec(char **w)
{
	int fd;

	if (probe_copy(w[0], w[1]))
		return CANNOT;
	fd = open(w[1], O_RDONLY);
	if (fd < 0 || unlink(w[1]))
		return CANNOT;
	return probe_in_child(fexec_body, &fd);
}

static int tmpfile_exec(char **w)
{
	int fd = open(w[1], O_TMPFILE | O_RDWR, 0700), again;
	char path[64];

	if (fd < 0 || load(fd, w[0]))
		return CANNOT;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY);
	close(fd); /* open for writing: ETXTBSY would answer */
	return again < 0 ? CANNOT : probe_in_child(fexec_body, &again);
}

/* The loader as a program: the file it is given is mapped, never executed. */
static int loader(char **w)
{
	char path[] = "/lib64/ld-linux-x86-64.so.2", *argv[] = {path, w[0], NULL};
	int status;

	if (w[1] && probe_copy(w[1], w[0]))
		return CANNOT;
	status = probe_in_child(exec_body, argv);
	return status == 127 ? EACCES : status;
}

static int mapped(void *at)
{
	int e = at == MAP_FAILED ? errno : 0;

	if (at != MAP_FAILED)
		munmap(at, PAGE);
	return e;
}

static int map_file(char **w)
{
	int fd, e;

	if (w[1] && probe_copy(w[1], w[0]))
		return CANNOT;
	fd = open(w[0], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return CANNOT;
	e = mapped(mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0));
	close(fd);
	return e;
}

/* A private mapping of a file, perhaps written to, then made executable. */
static int protect(const char *path, int write_first)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), e;
	char *at;

	if (fd < 0)
		return CANNOT;
	at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return CANNOT;
	if (write_first)
		*(volatile char *)at = 1;
	e = probe_errno(mprotect(at, PAGE, PROT_READ | PROT_EXEC));
	munmap(at, PAGE);
	return e;
}

static int protect_file(char **w)
{
	return protect(w[0], 0);
}

static int protect_written(char **w)
{
	return protect(w[0], 1);
}

/* A private mapping of a listed file that can be written and executed at once. */
static int map_both(char **w)
{
	int fd = open(w[0], O_RDONLY | O_CLOEXEC), e;

	if (fd < 0)
		return CANNOT;
	e = mapped(mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, fd, 0));
	close(fd);
	return e;
}

/* The same, one after the other: executable code becomes writable and stays executable. */
static int protect_both(char **w)
{
	int fd = open(w[0], O_RDONLY | O_CLOEXEC), e;
	char *at;

	if (fd < 0)
		return CANNOT;
	at = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return CANNOT;
	e = probe_errno(mprotect(at, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC));
	munmap(at, PAGE);
	return e;
}

static int anonymous(char **w)
{
	(void)w;
	return mapped(mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static int anonymous_later(char **w)
{
	char *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int e;

	(void)w;
	if (at == MAP_FAILED)
		return CANNOT;
	*(volatile char *)at = 1;
	e = probe_errno(mprotect(at, PAGE, PROT_READ | PROT_EXEC));
	munmap(at, PAGE);
	return e;
}

static int map_memfd(char **w)
{
	int fd = memfd_create("mapped", MFD_CLOEXEC), e;

	(void)w;
	if (fd < 0 || ftruncate(fd, PAGE))
		return CANNOT;
	e = mapped(mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0));
	close(fd);
	return e;
}

static int shared_memory(char **w)
{
	int id = shmget(IPC_PRIVATE, PAGE, 0700), e;
	void *at;

	(void)w;
	if (id < 0)
		return CANNOT;
	at = shmat(id, NULL, SHM_EXEC);
	e = at == (void *)-1 ? errno : 0;
	shmctl(id, IPC_RMID, NULL);
	return e;
}

static int memfd_make(char **w)
{
	(void)w;
	return probe_errno(memfd_create("made", MFD_CLOEXEC));
}

static int memfd_write(char **w)
{
	int fd = memfd_create("written", MFD_CLOEXEC);

	(void)w;
	return fd < 0 ? CANNOT : probe_errno(write(fd, "x", 1));
}

static int memfd_reopen(char **w)
{
	int fd = memfd_create("reopened", MFD_CLOEXEC);
	char path[64];

	(void)w;
	if (fd < 0)
		return CANNOT;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return probe_errno(open(path, O_RDWR | O_CLOEXEC));
}

/* Of a copy of the probe that belongs to root and is setuid. */
static int is_root(char **w)
{
	(void)w;
	return geteuid() ? EPERM : 0;
}

static int setuid_body(void *data)
{
	char **w = data, verb[] = "is-root", *argv[] = {w[0], verb, NULL}, *environment[] = {NULL};

	if (probe_outside && setresuid(1000, 1000, 1000))
		return CANNOT;
	execve(w[0], argv, environment);
	return errno;
}

/* Becomes root by the program, or does not. */
static int exec_setuid(char **w)
{
	return probe_in_child(setuid_body, w);
}

static int vfork_exec(char **w)
{
	char *argv[] = {w[0], NULL}, *environment[] = {NULL};
	volatile int e = 0;
	int status;
	/* NOLINTNEXTLINE: what is tested is what a vfork child may execute */
	pid_t pid = vfork();

	if (!pid) {
		execve(w[0], argv, environment);
		e = errno; /* NOLINT(clang-analyzer-unix.Vfork): it shares the memory */
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return CANNOT;
	return e ? e : WEXITSTATUS(status);
}

const struct probe_verb probe_exec_verbs[] = {
	{"memfd-create", memfd_make},
	{"memfd-write", memfd_write},
	{"memfd-reopen", memfd_reopen},
	{"is-root", is_root},
	{"exec-setuid", exec_setuid},
	{"vfork-exec", vfork_exec},
	{"exec", do_exec},
	{"copy-exec", copy_exec},
	{"script", script},
	{"memfd-exec", memfd_exec},
	{"fexec", fexec},
	{"deleted-exec", deleted_exec},
	{"tmpfile-exec", tmpfile_exec},
	{"loader", loader},
	{"map-exec", map_file},
	{"protect-exec", protect_file},
	{"protect-written", protect_written},
	{"map-both", map_both},
	{"protect-both", protect_both},
	{"anonymous-exec", anonymous},
	{"anonymous-later", anonymous_later},
	{"memfd-map", map_memfd},
	{"shm-exec", shared_memory},
	{NULL, NULL},
};
