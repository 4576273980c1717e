/* SPDX-License-Identifier: BSD-2-Clause */
/* A refused call as text: call_arguments.def says how. */
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <linux/audit.h>
#include <linux/bpf.h>

#include "common/text.h"
#include "sandbox/notify.h"
#include "sandbox/seccomp.h"

#define TEXT_MAX 96 /* bytes of a text that are shown */
#define X32_BIT	 0x40000000u
#ifndef TIOCLINUX
#define TIOCLINUX 0x541c
#endif

static const struct {
	const char *name, *letters;
} calls[] = {
#define ISO_CALL_ARGUMENTS(name, letters) {#name, letters},
#include "sandbox/call_arguments.def"
#undef ISO_CALL_ARGUMENTS
};

static const struct {
	char letter;
	bool flag;
	uint32_t value;
	const char *name;
} words[] = {
#define ISO_ARGUMENT_WORD(letter, flag, value) {letter, flag, (uint32_t)(value), #value},
#include "sandbox/call_arguments.def"
#undef ISO_ARGUMENT_WORD
};

struct text {
	char *at;
	size_t left; /* with the NUL */
};

static void add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it has been started */
	n = vsnprintf(t->at, t->left, format, args);
	va_end(args);
	if (n < 0)
		return;
	if ((size_t)n >= t->left)
		n = (int)t->left - 1;
	t->at += n;
	t->left -= (size_t)n;
}

/* Escaped, and with its own quotation marks told from ours. Cut between units. */
static void add_quoted(struct text *t, const char *raw, size_t n, bool more)
{
	char escaped[4 * TEXT_MAX + 8];

	iso_text_escape(raw, n, escaped, sizeof escaped);
	if (strlen(escaped) + 16 > t->left) {
		add(t, "...");
		return;
	}
	add(t, "\"");
	for (const char *c = escaped; *c && t->left > 8; c++)
		add(t, *c == '"' ? "\\\"" : "%c", *c);
	add(t, "\"%s", more ? "..." : "");
}

static void add_memory(struct text *t, uint64_t address, iso_memory_fn read, void *context)
{
	char raw[TEXT_MAX + 1];
	ssize_t n = address && read ? read(context, address, raw, sizeof raw) : -1;
	size_t length = n > 0 ? strnlen(raw, (size_t)n) : 0;

	if (!address)
		add(t, "NULL");
	else if (n <= 0)
		add(t, "ptr");
	else
		add_quoted(t, raw, length < TEXT_MAX ? length : TEXT_MAX, length > TEXT_MAX);
}

/* The kernel reads 32 bits; what a task puts into the others is shown all the same. */
static void add_words(struct text *t, char letter, uint64_t value)
{
	uint32_t compared = (uint32_t)value;
	uint64_t rest = value;
	bool any = false;

	if (letter == 'S')
		compared &= 0xf; /* SOCK_CLOEXEC and SOCK_NONBLOCK come on top */
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		bool fits = words[i].flag ? (value & words[i].value) == words[i].value
					  : compared == words[i].value;

		if (words[i].letter != letter || !fits)
			continue;
		add(t, "%s%s", any ? "|" : "", words[i].name);
		rest &= ~(uint64_t)words[i].value;
		any = true;
		if (!words[i].flag)
			break;
	}
	if (!any)
		add(t, value > 9 ? "%#" PRIx64 : "%" PRIu64, value);
	else if (rest)
		add(t, "|%#" PRIx64, rest);
}

static void add_argument(struct text *t, char letter, uint64_t value, iso_memory_fn read,
			 void *context)
{
	switch (letter) {
	case 'd':
		add(t, "%" PRId32, (int32_t)value);
		return;
	case 'u':
		add(t, "%" PRIu64, value);
		return;
	case 'x':
		add(t, value > 9 ? "%#" PRIx64 : "%" PRIu64, value);
		return;
	case 'p':
		add(t, value ? "ptr" : "NULL");
		return;
	case 's':
		add_memory(t, value, read, context);
		return;
	default:
		add_words(t, letter, value);
		return;
	}
}

static const char *letters_of(const char *name)
{
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (!strcmp(calls[i].name, name))
			return calls[i].letters;
	return NULL;
}

/* The C library asks for the machine's addresses so before it looks a name up. */
static bool is_expected(const struct seccomp_data *d)
{
	return d->nr == SYS_socket && d->args[0] == AF_NETLINK && d->args[2] == 0;
}

void iso_notify_decode(const struct seccomp_data *d, iso_memory_fn read, void *context,
		       struct iso_refused_call *ret)
{
	struct text t = {ret->arguments, sizeof ret->arguments};
	const struct iso_seccomp_row *row;
	const char *letters;

	ret->arguments[0] = '\0';
	ret->number = (uint32_t)d->nr;
	ret->error = iso_seccomp_errno(d);
	ret->expected = false;
	/* Another entry's numbers and arguments mean something else, and it has no calls here. */
	if (d->arch != AUDIT_ARCH_X86_64) {
		snprintf(ret->call, sizeof ret->call,
			 d->arch == AUDIT_ARCH_I386 ? "i386:%d" : "unknown:%d", d->nr);
		return;
	}
	if (ret->number & X32_BIT) {
		snprintf(ret->call, sizeof ret->call, "x32:%u", ret->number & ~X32_BIT);
		return;
	}
	row = iso_seccomp_find(d->nr);
	if (row)
		snprintf(ret->call, sizeof ret->call, "%s", row->name);
	else
		snprintf(ret->call, sizeof ret->call, "x86-64:%d", d->nr);
	ret->expected = is_expected(d);
	letters = letters_of(ret->call);
	if (!letters)
		add(&t, "...");
	for (size_t i = 0; letters && letters[i]; i++) {
		add(&t, "%s", i ? ", " : "");
		add_argument(&t, letters[i], d->args[i], read, context);
	}
}
