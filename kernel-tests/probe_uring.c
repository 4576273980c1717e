/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The requests of io_uring that open, connect, rename, link, remove and make. The first word says
 * who does the work: inline (the task), worker (a thread of the kernel's), sqpoll (another one).
 */
#include "probe.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uring.h"

#define HERE AT_FDCWD

/* errno of one request on a ring of its own. */
static int once(const char *how, struct io_uring_sqe *request)
{
	struct uring r;
	int e = uring_open(&r, how);

	if (e)
		return e;
	e = uring_do(&r, request);
	uring_close(&r);
	return e < 0 ? -e : 0;
}

static uint64_t pointer(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static int number(const char *text)
{
	return text ? (int)strtol(text, NULL, 10) : 0;
}

static int setup(char **w)
{
	struct uring r;
	int e = uring_open(&r, w[0] ? w[0] : "inline");

	return e ? e : (uring_close(&r), 0);
}

static int open_flags(const char *word)
{
	if (word && !strcmp(word, "create"))
		return O_CREAT | O_EXCL | O_WRONLY;
	if (word && !strcmp(word, "truncate"))
		return O_WRONLY | O_TRUNC;
	return word && !strcmp(word, "write") ? O_WRONLY : O_RDONLY;
}

static int do_openat(char **w)
{
	struct io_uring_sqe s = {.opcode = IORING_OP_OPENAT,
				 .fd = HERE,
				 .addr = pointer(w[1]),
				 .len = 0644,
				 .open_flags = (uint32_t)open_flags(w[2])};

	return once(w[0], &s);
}

static int do_openat2(char **w)
{
	struct open_how how = {.flags = (uint64_t)open_flags(w[2])};
	struct io_uring_sqe s = {.opcode = IORING_OP_OPENAT2,
				 .fd = HERE,
				 .addr = pointer(w[1]),
				 .addr2 = pointer(&how),
				 .len = sizeof how};

	return once(w[0], &s);
}

/* A ring with a table of one file, still none, that the ring keeps: no descriptor of the task. */
static int open_with_table(struct uring *r, const char *how)
{
	int none = -1, e = uring_open(r, how);

	if (e)
		return e;
	return syscall(SYS_io_uring_register, r->fd, IORING_REGISTER_FILES, &none, 1) ? CANNOT : 0;
}

static int open_into_table(struct uring *r, const char *path)
{
	struct io_uring_sqe s = {.opcode = IORING_OP_OPENAT,
				 .fd = HERE,
				 .addr = pointer(path),
				 .open_flags = O_RDONLY,
				 .file_index = 1};

	return uring_do(r, &s);
}

static int read_from_table(struct uring *r)
{
	char byte;
	struct io_uring_sqe s = {.opcode = IORING_OP_READ,
				 .flags = IOSQE_FIXED_FILE,
				 .addr = pointer(&byte),
				 .len = 1};

	return uring_do(r, &s);
}

static int direct(char **w)
{
	struct uring r;
	int e = open_with_table(&r, w[0]);

	if (e)
		return e;
	e = open_into_table(&r, w[1]);
	if (!e)
		e = read_from_table(&r);
	uring_close(&r);
	return e < 0 ? -e : 0;
}

/* Out of the table, as a descriptor of the task; then read by the plain call. */
static int install(char **w)
{
	struct io_uring_sqe s = {.opcode = URING_OP_INSTALL, .flags = IOSQE_FIXED_FILE};
	struct uring r;
	char byte;
	int e = open_with_table(&r, w[0]);

	if (e)
		return e;
	e = open_into_table(&r, w[1]);
	if (!e)
		e = uring_do(&r, &s);
	if (e >= 0 && read(e, &byte, 1) < 0)
		e = -errno;
	uring_close(&r);
	return e < 0 ? -e : 0;
}

/* From one ring's table into another's, and read there. */
static int pass_on(char **w)
{
	struct io_uring_sqe s = {
		.opcode = IORING_OP_MSG_RING, .addr = IORING_MSG_SEND_FD, .file_index = 1};
	struct uring from, to;
	int e = open_with_table(&from, w[0]);

	if (!e)
		e = open_with_table(&to, w[0]);
	if (e)
		return e;
	s.fd = to.fd;
	e = open_into_table(&from, w[1]);
	if (!e)
		e = uring_do(&from, &s);
	if (!e) {
		/* the message itself is the first answer there */
		__atomic_store_n(to.cq_head, *to.cq_head + 1, __ATOMIC_RELEASE);
		e = read_from_table(&to);
	}
	uring_close(&from);
	uring_close(&to);
	return e < 0 ? -e : 0;
}

static int do_read(char **w)
{
	char byte;
	struct io_uring_sqe s = {
		.opcode = IORING_OP_READ, .fd = number(w[1]), .addr = pointer(&byte), .len = 1};

	return once(w[0], &s);
}

/* Two paths, in the places that rename and link have for them. */
static int two_paths(char **w, uint8_t opcode)
{
	struct io_uring_sqe s = {.opcode = opcode,
				 .fd = HERE,
				 .addr = pointer(w[1]),
				 .len = (uint32_t)HERE,
				 .addr2 = pointer(w[2])};

	return once(w[0], &s);
}

static int do_rename(char **w)
{
	return two_paths(w, IORING_OP_RENAMEAT);
}

static int do_link(char **w)
{
	return two_paths(w, IORING_OP_LINKAT);
}

static int do_symlink(char **w)
{
	struct io_uring_sqe s = {.opcode = IORING_OP_SYMLINKAT,
				 .fd = HERE,
				 .addr = pointer(w[1]),
				 .addr2 = pointer(w[2])};

	return once(w[0], &s);
}

static int do_unlink(char **w)
{
	struct io_uring_sqe s = {.opcode = IORING_OP_UNLINKAT, .fd = HERE, .addr = pointer(w[1])};

	return once(w[0], &s);
}

static int do_rmdir(char **w)
{
	struct io_uring_sqe s = {.opcode = IORING_OP_UNLINKAT,
				 .fd = HERE,
				 .addr = pointer(w[1]),
				 .unlink_flags = AT_REMOVEDIR};

	return once(w[0], &s);
}

static int do_mkdir(char **w)
{
	struct io_uring_sqe s = {
		.opcode = IORING_OP_MKDIRAT, .fd = HERE, .addr = pointer(w[1]), .len = 0755};

	return once(w[0], &s);
}

/* With "acl" one that tmpfs takes on every kernel: the owner's rights alone. */
static struct io_uring_sqe attribute(uint8_t opcode, const char *which)
{
	static const char acl[] = "\2\0\0\0"
				  "\1\0\6\0\377\377\377\377"
				  "\4\0\0\0\377\377\377\377"
				  "\40\0\0\0\377\377\377\377";
	bool is_acl = which && !strcmp(which, "acl");

	return (struct io_uring_sqe){
		.opcode = opcode,
		.addr = pointer(is_acl ? "system.posix_acl_access" : "user.isoctl"),
		.addr2 = pointer(is_acl ? acl : "x"),
		.len = is_acl ? sizeof acl - 1 : 1};
}

static int do_setxattr(char **w)
{
	struct io_uring_sqe s = attribute(IORING_OP_SETXATTR, w[2]);

	s.addr3 = pointer(w[1]);
	return once(w[0], &s);
}

static int do_fsetxattr(char **w)
{
	struct io_uring_sqe s = attribute(IORING_OP_FSETXATTR, w[2]);

	s.fd = open(w[1], O_RDONLY | O_CLOEXEC);
	return s.fd < 0 ? CANNOT : once(w[0], &s);
}

static int do_ftruncate(char **w)
{
	struct io_uring_sqe s = {.opcode = URING_OP_FTRUNCATE,
				 .fd = open(w[1], O_WRONLY | O_CLOEXEC)};

	return s.fd < 0 ? errno : once(w[0], &s);
}

static int do_socket(char **w)
{
	struct io_uring_sqe s = {.opcode = IORING_OP_SOCKET,
				 .fd = number(w[1]),
				 .off = (uint64_t)number(w[2]),
				 .len = (uint32_t)number(w[3])};

	return once(w[0], &s);
}

static struct sockaddr_in address(char **w)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)number(w[2]))};

	inet_pton(AF_INET, w[1], &a.sin_addr);
	return a;
}

static int do_connect(char **w)
{
	struct sockaddr_in a = address(w);
	struct io_uring_sqe s = {.opcode = IORING_OP_CONNECT,
				 .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
				 .addr = pointer(&a),
				 .off = sizeof a};

	return s.fd < 0 ? CANNOT : once(w[0], &s);
}

/* To a socket of its own that listens on loopback. */
static int connect_own(char **w)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct io_uring_sqe s = {.opcode = IORING_OP_CONNECT,
				 .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
				 .addr = pointer(&a),
				 .off = sizeof a};
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t n = sizeof a;

	if (server < 0 || s.fd < 0 || bind(server, (struct sockaddr *)&a, n) || listen(server, 1) ||
	    getsockname(server, (struct sockaddr *)&a, &n))
		return CANNOT;
	return once(w[0], &s);
}

/* The address is in the message; with MSG_FASTOPEN that is a connect, too. */
static int send_with(char **w, int type, uint8_t opcode, uint32_t flags)
{
	struct sockaddr_in a = address(w);
	char byte = 'x';
	struct iovec part = {&byte, 1};
	struct msghdr m = {
		.msg_name = &a, .msg_namelen = sizeof a, .msg_iov = &part, .msg_iovlen = 1};
	struct io_uring_sqe s = {.opcode = opcode,
				 .fd = socket(AF_INET, type | SOCK_CLOEXEC, 0),
				 .addr = pointer(&m),
				 .len = 1,
				 .msg_flags = flags};

	return s.fd < 0 ? CANNOT : once(w[0], &s);
}

static int do_sendmsg(char **w)
{
	return send_with(w, SOCK_DGRAM, IORING_OP_SENDMSG, 0);
}

static int do_fastopen(char **w)
{
	return send_with(w, SOCK_STREAM, IORING_OP_SENDMSG, MSG_FASTOPEN);
}

static int do_sendmsg_zc(char **w)
{
	return send_with(w, SOCK_DGRAM, IORING_OP_SENDMSG_ZC, 0);
}

/* Its address in the request itself. */
static int send_to(char **w, uint8_t opcode)
{
	struct sockaddr_in a = address(w);
	char byte = 'x';
	struct io_uring_sqe s = {.opcode = opcode,
				 .fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
				 .addr = pointer(&byte),
				 .addr2 = pointer(&a),
				 .addr_len = sizeof a,
				 .len = 1};

	return s.fd < 0 ? CANNOT : once(w[0], &s);
}

static int do_send(char **w)
{
	return send_to(w, IORING_OP_SEND);
}

static int do_send_zc(char **w)
{
	return send_to(w, IORING_OP_SEND_ZC);
}

static int do_bind(char **w)
{
	struct sockaddr_in a = address(w);
	struct io_uring_sqe s = {.opcode = URING_OP_BIND,
				 .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
				 .addr = pointer(&a),
				 .addr2 = sizeof a};

	return s.fd < 0 ? CANNOT : once(w[0], &s);
}

static int do_listen(char **w)
{
	struct io_uring_sqe s = {.opcode = URING_OP_LISTEN,
				 .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
				 .len = 1};

	return s.fd < 0 ? CANNOT : once(w[0], &s);
}

/* A command to a file's driver; that of /dev/null takes any. Wide ones have a number of their own.
 */
static int do_command(char **w)
{
	struct io_uring_sqe s = {.opcode = strcmp(w[0], "wide") ? IORING_OP_URING_CMD
								: URING_OP_WIDE_COMMAND,
				 .fd = open(w[1], O_RDONLY | O_CLOEXEC)};

	return s.fd < 0 ? CANNOT : once(w[0], &s);
}

/* Every request that the running kernel knows is in uring_opcodes.def. */
static int opcodes(char **w)
{
	static const uint8_t known[] = {
#define OPCODE(number, name, allowed, denied) number,
#define HARMLESS(number, name, why)	      number,
#include "uring_opcodes.def"
#undef OPCODE
#undef HARMLESS
	};
	struct {
		struct io_uring_probe head;
		struct io_uring_probe_op rows[256];
	} probe = {};
	struct uring r;
	int e = uring_open(&r, w[0]);

	if (e)
		return e;
	if (syscall(SYS_io_uring_register, r.fd, IORING_REGISTER_PROBE, &probe, 256))
		return CANNOT;
	uring_close(&r);
	for (unsigned i = 0; i < probe.head.ops_len; i++)
		if (probe.rows[i].flags & IO_URING_OP_SUPPORTED &&
		    !memchr(known, probe.rows[i].op, sizeof known))
			return ENOTRECOVERABLE;
	return probe.head.ops_len ? 0 : CANNOT;
}

/* Under credentials that were registered before. */
static int personality(char **w)
{
	struct io_uring_sqe s = {.opcode = IORING_OP_NOP};
	struct uring r;
	int e = uring_open(&r, w[0]), id;

	if (e)
		return e;
	id = (int)syscall(SYS_io_uring_register, r.fd, IORING_REGISTER_PERSONALITY, NULL, 0);
	if (id < 0)
		return errno;
	s.personality = (uint16_t)id;
	e = uring_do(&r, &s);
	uring_close(&r);
	return e < 0 ? -e : 0;
}

const struct probe_verb probe_uring_verbs[] = {
	{"uring-setup", setup},
	{"uring-openat", do_openat},
	{"uring-openat2", do_openat2},
	{"uring-direct", direct},
	{"uring-install", install},
	{"uring-message", pass_on},
	{"uring-opcodes", opcodes},
	{"uring-read", do_read},
	{"uring-rename", do_rename},
	{"uring-link", do_link},
	{"uring-symlink", do_symlink},
	{"uring-unlinkat", do_unlink},
	{"uring-rmdir", do_rmdir},
	{"uring-mkdir", do_mkdir},
	{"uring-setxattr", do_setxattr},
	{"uring-fsetxattr", do_fsetxattr},
	{"uring-ftruncate", do_ftruncate},
	{"uring-socket", do_socket},
	{"uring-connect", do_connect},
	{"uring-connect-own", connect_own},
	{"uring-sendmsg", do_sendmsg},
	{"uring-fastopen", do_fastopen},
	{"uring-sendmsg-zc", do_sendmsg_zc},
	{"uring-send", do_send},
	{"uring-send-zc", do_send_zc},
	{"uring-bind", do_bind},
	{"uring-listen", do_listen},
	{"uring-command", do_command},
	{"uring-wide-command", do_command},
	{"uring-personality", personality},
	{NULL, NULL},
};
