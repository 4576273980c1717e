/* SPDX-License-Identifier: BSD-2-Clause */
#include "sandbox/seccomp.h"

#include <errno.h>
#include <pthread.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "manifest/syscalls.h"

#define FILTER_MAX (BPF_MAXINSNS * sizeof(struct sock_filter))

static const struct iso_seccomp_row rows[] = {
#define ISO_SYSCALL_NEW(name, number, strict, build, why) \
	{#name, number, {ISO_SECCOMP_##strict, ISO_SECCOMP_##build}, why},
#define ISO_SYSCALL(name, strict, build, why) \
	{#name, SYS_##name, {ISO_SECCOMP_##strict, ISO_SECCOMP_##build}, why},
#include "sandbox/syscalls.def"
#undef ISO_SYSCALL
#undef ISO_SYSCALL_NEW
};
#define ROWS (sizeof rows / sizeof *rows)

const struct iso_seccomp_row *iso_seccomp_rows(size_t *ret_count)
{
	*ret_count = ROWS;
	return rows;
}

const struct iso_seccomp_row *iso_seccomp_find(int number)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].number == number)
			return &rows[i];
	return NULL;
}

static const struct iso_seccomp_row *find_row(const char *name)
{
	for (size_t i = 0; i < ROWS; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

static bool is_listed(const struct iso_strv *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i], name))
			return true;
	return false;
}

static int export_program(scmp_filter_ctx c, struct iso_seccomp_program *ret)
{
	ISO_AUTO_CLOSE int fd = memfd_create("filter", MFD_CLOEXEC);
	char *code = NULL;
	size_t size = 0;
	int r;

	if (fd < 0)
		return -errno;
	r = seccomp_export_bpf(c, fd);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	if (r == 0)
		r = iso_read_all(fd, FILTER_MAX, &code, &size);
	if (r < 0)
		return r;
	ret->code = (struct sock_filter *)(void *)code;
	ret->length = size / sizeof *ret->code;
	return 0;
}

/* The architecture is compared first; another one, x32 included, has no system calls at all, and
 * who tries one is told of. */
static scmp_filter_ctx new_context(uint32_t action)
{
	scmp_filter_ctx c = seccomp_init(action);

	if (!c)
		return NULL;
	if (seccomp_attr_set(c, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_NOTIFY) == 0 &&
	    seccomp_attr_set(c, SCMP_FLTATR_CTL_OPTIMIZE, 2) == 0)
		return c;
	seccomp_release(c);
	return NULL;
}

static int make_arguments(enum iso_syscall_profile profile, bool daemons_deny,
			  struct iso_seccomp_program *ret)
{
	scmp_filter_ctx c = new_context(SCMP_ACT_ALLOW);
	int r = c ? iso_seccomp_arguments(c, profile, daemons_deny) : -ENOMEM;

	if (r == 0)
		r = export_program(c, ret);
	seccomp_release(c);
	return r;
}

static uint32_t filter_action(enum iso_seccomp_action a, int number)
{
	if (a == ISO_SECCOMP_ALLOW)
		return SCMP_ACT_ALLOW;
	/* what the launch still calls behind its filter, where nobody reads yet (seccomp.h) */
	if (number == SYS_execve || number == SYS_write || number == SYS_exit_group)
		return SCMP_ACT_ERRNO(EPERM);
	return SCMP_ACT_NOTIFY;
}

static int make_list(const struct iso_manifest *m, struct iso_seccomp_program *ret)
{
	scmp_filter_ctx c = new_context(SCMP_ACT_ERRNO(ENOSYS));
	int r = c ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < ROWS; i++) {
		enum iso_seccomp_action a = rows[i].action[m->process.syscalls];
		bool named = is_listed(&m->process.syscalls_allow, rows[i].name);

		if (a == ISO_SECCOMP_OPTIONAL)
			a = named ? ISO_SECCOMP_ALLOW : ISO_SECCOMP_EPERM;
		if (a == ISO_SECCOMP_OPTIONAL_ENOSYS)
			a = named ? ISO_SECCOMP_ALLOW : ISO_SECCOMP_ENOSYS;
		if (is_listed(&m->process.syscalls_deny, rows[i].name))
			a = ISO_SECCOMP_EPERM;
		if (a == ISO_SECCOMP_ENOSYS)
			continue; /* the filter's default */
		r = seccomp_rule_add(c, filter_action(a, rows[i].number), rows[i].number, 0);
	}
	if (r == 0)
		r = export_program(c, ret);
	seccomp_release(c);
	return r;
}

static const char *profile_word(enum iso_syscall_profile profile)
{
	return profile == ISO_SYSCALLS_BUILD ? "build" : "strict";
}

static int check_lists(const struct iso_manifest *m, struct iso_error *e)
{
	for (size_t i = 0; i < m->process.syscalls_allow.count; i++)
		if (!iso_syscall_optional(profile_word(m->process.syscalls),
					  m->process.syscalls_allow.items[i]))
			return iso_error_set(e, -EINVAL, "seccomp",
					     "see the profile's optional list",
					     "/process/syscalls/allow/%zu: %s is not optional", i,
					     m->process.syscalls_allow.items[i]);
	for (size_t i = 0; i < m->process.syscalls_deny.count; i++)
		if (!find_row(m->process.syscalls_deny.items[i]))
			return iso_error_set(e, -EINVAL, "seccomp", NULL,
					     "/process/syscalls/deny/%zu: %s is no system call", i,
					     m->process.syscalls_deny.items[i]);
	return 0;
}

/* What the first part allows goes on at the beginning of the second. */
static int join(const struct iso_seccomp_program *first, const struct iso_seccomp_program *second,
		struct iso_seccomp_program *ret)
{
	size_t length = first->length + second->length;

	if (length > BPF_MAXINSNS)
		return -E2BIG;
	ret->code = malloc(length * sizeof *ret->code);
	if (!ret->code)
		return -ENOMEM;
	memcpy(ret->code, first->code, first->length * sizeof *ret->code);
	memcpy(ret->code + first->length, second->code, second->length * sizeof *ret->code);
	for (size_t i = 0; i < first->length; i++)
		if (ret->code[i].code == (BPF_RET | BPF_K) && ret->code[i].k == SECCOMP_RET_ALLOW)
			ret->code[i] = (struct sock_filter)BPF_STMT(
				BPF_JMP | BPF_JA, (uint32_t)(first->length - i - 1));
	ret->length = length;
	return 0;
}

static int make_task(const struct iso_manifest *m, struct iso_seccomp_program *ret)
{
	struct iso_seccomp_program arguments = {0}, list = {0};
	int r = make_arguments(m->process.syscalls, !m->process.daemons_contain, &arguments);

	if (r == 0)
		r = make_list(m, &list);
	if (r == 0)
		r = join(&arguments, &list, ret);
	iso_seccomp_free(&arguments);
	iso_seccomp_free(&list);
	return r;
}

static int copy_program(const struct iso_seccomp_program *p, struct iso_seccomp_program *ret)
{
	size_t size = p->length * sizeof *p->code;

	ret->code = malloc(size);
	if (!ret->code)
		return -ENOMEM;
	memcpy(ret->code, p->code, size);
	ret->length = p->length;
	return 0;
}

/* Making a filter takes milliseconds, and almost all tasks use one of four. */
static int cached_task(const struct iso_manifest *m, struct iso_seccomp_program *ret)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct iso_seccomp_program cache[2][2];
	struct iso_seccomp_program *have =
		&cache[m->process.syscalls][m->process.daemons_contain ? 1 : 0];
	int r = 0;

	pthread_mutex_lock(&lock);
	if (!have->code)
		r = make_task(m, have);
	if (r == 0)
		r = copy_program(have, ret);
	pthread_mutex_unlock(&lock);
	return r;
}

int iso_seccomp_task(const struct iso_manifest *m, struct iso_seccomp_program *ret,
		     struct iso_error *e)
{
	int r = check_lists(m, e);

	if (r < 0)
		return r;
	memset(ret, 0, sizeof *ret);
	if (m->process.syscalls_allow.count || m->process.syscalls_deny.count)
		r = make_task(m, ret);
	else
		r = cached_task(m, ret);
	if (r < 0)
		return iso_error_set(e, r, "seccomp", NULL,
				     "cannot make the system call filter: %m");
	return 0;
}

int iso_seccomp_helper(struct iso_seccomp_program *ret)
{
	static const int calls[] = {
		SCMP_SYS(openat),	   SCMP_SYS(openat2),	  SCMP_SYS(close),
		SCMP_SYS(fstat),	   SCMP_SYS(newfstatat),  SCMP_SYS(statx),
		SCMP_SYS(getdents64),	   SCMP_SYS(read),	  SCMP_SYS(write),
		SCMP_SYS(sendfile),	   SCMP_SYS(lseek),	  SCMP_SYS(ftruncate),
		SCMP_SYS(mkdirat),	   SCMP_SYS(symlinkat),	  SCMP_SYS(readlinkat),
		SCMP_SYS(fchmod),	   SCMP_SYS(fchown),	  SCMP_SYS(fchownat),
		SCMP_SYS(utimensat),	   SCMP_SYS(exit_group),  SCMP_SYS(rt_sigreturn),
		SCMP_SYS(restart_syscall), SCMP_SYS(sigaltstack), /* AddressSanitizer, before it
								     leaves a function for good */
	};
	scmp_filter_ctx c = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int r = c ? 0 : -ENOMEM;

	memset(ret, 0, sizeof *ret);
	for (size_t i = 0; r == 0 && i < sizeof calls / sizeof *calls; i++)
		r = seccomp_rule_add(c, SCMP_ACT_ALLOW, calls[i], 0);
	if (r == 0)
		r = export_program(c, ret);
	seccomp_release(c);
	return r;
}

void iso_seccomp_free(struct iso_seccomp_program *p)
{
	free(p->code);
	p->code = NULL;
	p->length = 0;
}
