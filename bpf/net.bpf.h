/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who may be talked to. In this version: the sandbox's own sockets, and its own loopback where the
 * manifest says so.
 *
 * socket_create        unix, TCP and UDP over IPv4 and IPv6; everything else is refused (raw,
 * packet, netlink, vsock, MPTCP, SCTP...). A kernel-made socket (kern=1) is not asked.
 * socket_post_create   stamps the socket with its sandbox; no stamp, no socket
 * socket_bind, listen  IP: only with loopback granted. Listening without bind comes to listen
 * alone. socket_connect       IP: loopback addresses, if granted; AF_UNSPEC (disconnect) goes
 * nowhere socket_sendmsg       judges the destination of every message that names one (UDP,
 * MSG_FASTOPEN); a UDP message to AF_UNSPEC goes out as IPv4 and is judged as that
 * unix_stream_connect, the peer's socket must carry the same sandbox; paths never decide
 * unix_may_send
 *
 * Addresses here are kernel copies. An unknown family, a short or unreadable address: refused.
 */
#ifndef ISO_NET_BPF_H
#define ISO_NET_BPF_H

struct iso_net {
	struct iso_label *label;
	__u32 hook;
	__u16 family;
	__u16 port;
	__u16 protocol;
	__u16 type;
	__u8 address[16];
};

/* Global for the verifier's sake (event.bpf.h). */
__noinline int iso_say_net(struct iso_label *label, struct iso_net *n, __u32 reason)
{
	struct iso_refusal why = {.kind = ISO_EVENT_NET, .reason = reason, .error = EACCES};
	struct iso_event *e;

	if (!label || !n)
		return 0;
	why.hook = n->hook;
	why.object = iso_mix(iso_secret(), (__u64)n->family << 48 | (__u64)n->port << 32 |
						   (__u64)n->protocol << 16 | n->type);
	why.object = iso_mix(why.object, *(__u64 *)n->address);
	why.object = iso_mix(why.object, *(__u64 *)(n->address + 8));
	e = iso_event_start(label, &why);
	if (!e)
		return 0;
	e->family = n->family;
	e->port = n->port;
	e->protocol = n->protocol;
	e->type = n->type;
	__builtin_memcpy(e->address, n->address, sizeof e->address);
	iso_event_send(e);
	return 0;
}

static __always_inline int iso_net_refuse(struct iso_net *n, __u32 reason)
{
	iso_say_net(n->label, n, reason);
	return iso_refuse(EACCES);
}

/* True when the question need not be asked; else the reason is set, or 0. */
static __always_inline bool iso_net_open(struct iso_net *n, __u32 *reason)
{
	*reason = iso_standing(n->label);
	return *reason == ISO_TRUSTED;
}

static __always_inline bool iso_net_has_loopback(const struct iso_net *n)
{
	return n->label->flags & ISO_SB_LOOPBACK;
}

SEC("lsm/socket_create")
int BPF_PROG(iso_socket_create, int family, int type, int protocol, int kern)
{
	struct iso_net n = {.label = 0, .hook = ISO_HOOK_socket_create};
	__u32 reason = 0;

	if (kern)
		return 0;
	n.label = iso_inside();
	if (!n.label || iso_net_open(&n, &reason))
		return 0;
	n.family = family;
	n.type = type & ISO_SOCK_TYPE_MASK;
	n.protocol = protocol;
	if (reason)
		return iso_net_refuse(&n, reason);
	if (family == ISO_AF_UNIX)
		return 0;
	if (family == ISO_AF_INET || family == ISO_AF_INET6) {
		if (n.type == ISO_SOCK_STREAM && (!protocol || protocol == ISO_IPPROTO_TCP))
			return 0;
		if (n.type == ISO_SOCK_DGRAM && (!protocol || protocol == ISO_IPPROTO_UDP))
			return 0;
	}
	return iso_net_refuse(&n, ISO_REASON_FAMILY);
}

SEC("lsm/socket_post_create")
int BPF_PROG(iso_socket_post_create, struct socket *sock, int family, int type, int protocol,
	     int kern)
{
	struct iso_net n = {.label = 0, .hook = ISO_HOOK_socket_post_create};
	struct sock *sk;
	__u64 *stamp = 0;

	if (kern)
		return 0;
	n.label = iso_inside();
	if (!n.label)
		return 0;
	sk = sock->sk;
	iso_barrier(sk); /* one load: a second one would be unchecked to the verifier */
	if (sk)
		stamp = bpf_sk_storage_get(&iso_sockets, sk, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (stamp) {
		*stamp = n.label->sandbox;
		return 0;
	}
	iso_count(ISO_COUNT_LABEL_FAILED);
	n.family = family;
	return iso_net_refuse(&n, ISO_REASON_LABEL);
}

static __always_inline bool iso_loopback4(const __u8 *a)
{
	return a[0] == 127;
}

/* ::1, and 127.0.0.0/8 in mapped form. */
static __always_inline bool iso_loopback6(const __u8 *a)
{
	__u8 head = 0;

	for (int i = 0; i < 10; i++)
		head |= a[i];
	if (head)
		return false;
	if (a[10] == 0xff && a[11] == 0xff)
		return iso_loopback4(a + 12);
	return !a[10] && !a[11] && !a[12] && !a[13] && !a[14] && a[15] == 1;
}

/* The address, its family given: 0, or the reason why it is refused. Fills n for the event. */
static __always_inline __u32 iso_net_address(struct iso_net *n, const void *address, int length,
					     bool *loopback)
{
	*loopback = false;
	if (n->family == ISO_AF_INET) {
		struct iso_sockaddr_in in = {};

		if (length < (int)sizeof in || bpf_probe_read_kernel(&in, sizeof in, address))
			return ISO_REASON_UNREADABLE;
		n->port = bpf_ntohs(in.port);
		__builtin_memcpy(n->address, in.address, sizeof in.address);
		*loopback = iso_loopback4(n->address);
		return 0;
	}
	if (n->family == ISO_AF_INET6) {
		struct iso_sockaddr_in6 in6 = {};

		if (length < (int)sizeof in6 || bpf_probe_read_kernel(&in6, sizeof in6, address))
			return ISO_REASON_UNREADABLE;
		n->port = bpf_ntohs(in6.port);
		__builtin_memcpy(n->address, in6.address, sizeof in6.address);
		*loopback = iso_loopback6(n->address);
		return 0;
	}
	return ISO_REASON_FAMILY;
}

/* Family of the address at hand; AF_UNSPEC stays what it is. */
static __always_inline bool iso_net_family(struct iso_net *n, const void *address, int length)
{
	__u16 family;

	if (length < (int)sizeof family || bpf_probe_read_kernel(&family, sizeof family, address))
		return false;
	n->family = family;
	return true;
}

static __always_inline __u16 iso_net_socket(struct iso_net *n, struct socket *sock)
{
	struct sock *sk = BPF_CORE_READ(sock, sk);

	n->type = BPF_CORE_READ(sock, type);
	n->protocol = BPF_CORE_READ(sk, sk_protocol);
	return BPF_CORE_READ(sk, __sk_common.skc_family);
}

/* IPv4 loopback where it is granted, by plain loads; whatever else is judged with all its parts. */
static __always_inline bool iso_net_plainly_loopback(const struct iso_net *n,
						     const struct sockaddr *address, int length)
{
	return iso_net_has_loopback(n) && length >= (int)sizeof(struct iso_sockaddr_in) &&
	       address->sa_family == ISO_AF_INET &&
	       iso_loopback4((const __u8 *)address +
			     __builtin_offsetof(struct iso_sockaddr_in, address));
}

SEC("lsm/socket_connect")
int BPF_PROG(iso_socket_connect, struct socket *sock, struct sockaddr *address, int length)
{
	struct iso_net n = {.label = iso_inside(), .hook = ISO_HOOK_socket_connect};
	bool loopback = false;
	__u32 reason = 0;

	if (!n.label || iso_net_open(&n, &reason))
		return 0;
	if (!reason && iso_net_plainly_loopback(&n, address, length))
		return 0;
	iso_net_socket(&n, sock);
	if (!reason && !iso_net_family(&n, address, length))
		reason = ISO_REASON_UNREADABLE;
	if (reason)
		return iso_net_refuse(&n, reason);
	if (n.family == ISO_AF_UNSPEC || n.family == ISO_AF_UNIX)
		return 0;
	reason = iso_net_address(&n, address, length, &loopback);
	if (!reason && !(loopback && iso_net_has_loopback(&n)))
		reason = ISO_REASON_ADDRESS;
	return reason ? iso_net_refuse(&n, reason) : 0;
}

SEC("lsm/socket_sendmsg")
int BPF_PROG(iso_socket_sendmsg, struct socket *sock, struct msghdr *msg, int size)
{
	struct iso_net n = {.label = iso_inside(), .hook = ISO_HOOK_socket_sendmsg};
	bool loopback = false;
	__u32 reason = 0;
	__u16 socket_family;
	void *address;
	int length;

	if (!n.label)
		return 0;
	address = BPF_CORE_READ(msg, msg_name);
	if (!address || iso_net_open(&n, &reason))
		return 0;
	length = BPF_CORE_READ(msg, msg_namelen);
	socket_family = iso_net_socket(&n, sock);
	if (!reason && socket_family == ISO_AF_UNIX)
		return 0;
	if (!reason && !iso_net_family(&n, address, length))
		reason = ISO_REASON_UNREADABLE;
	if (reason)
		return iso_net_refuse(&n, reason);
	if (n.family == ISO_AF_UNSPEC)
		n.family = socket_family;
	reason = iso_net_address(&n, address, length, &loopback);
	if (!reason && !(loopback && iso_net_has_loopback(&n)))
		reason = ISO_REASON_ADDRESS;
	return reason ? iso_net_refuse(&n, reason) : 0;
}

SEC("lsm/socket_bind")
int BPF_PROG(iso_socket_bind, struct socket *sock, struct sockaddr *address, int length)
{
	struct iso_net n = {.label = iso_inside(), .hook = ISO_HOOK_socket_bind};
	bool loopback = false;
	__u32 reason = 0;
	__u16 family;

	if (!n.label || iso_net_open(&n, &reason))
		return 0;
	family = iso_net_socket(&n, sock);
	if (!reason && family == ISO_AF_UNIX)
		return 0;
	if (!reason && !iso_net_family(&n, address, length))
		reason = ISO_REASON_UNREADABLE;
	if (reason)
		return iso_net_refuse(&n, reason);
	if (n.family == ISO_AF_UNSPEC)
		n.family = family;
	reason = iso_net_address(&n, address, length, &loopback);
	if (!reason && !iso_net_has_loopback(&n))
		reason = ISO_REASON_ADDRESS;
	return reason ? iso_net_refuse(&n, reason) : 0;
}

SEC("lsm/socket_listen")
int BPF_PROG(iso_socket_listen, struct socket *sock, int backlog)
{
	struct iso_net n = {.label = iso_inside(), .hook = ISO_HOOK_socket_listen};
	__u32 reason = 0;

	if (!n.label || iso_net_open(&n, &reason))
		return 0;
	n.family = iso_net_socket(&n, sock);
	if (!reason && n.family == ISO_AF_UNIX)
		return 0;
	if (!reason && !iso_net_has_loopback(&n))
		reason = ISO_REASON_ADDRESS;
	return reason ? iso_net_refuse(&n, reason) : 0;
}

/* The other end of a unix socket: the same sandbox, or nobody. */
static __always_inline int iso_judge_peer(struct iso_net *n, struct sock *other)
{
	__u32 reason = 0;
	__u64 *stamp;

	if (iso_net_open(n, &reason))
		return 0;
	n->family = ISO_AF_UNIX;
	if (!reason) {
		stamp = bpf_sk_storage_get(&iso_sockets, other, 0, 0);
		if (stamp && *stamp == n->label->sandbox)
			return 0;
		reason = ISO_REASON_PEER;
	}
	return iso_net_refuse(n, reason);
}

SEC("lsm/unix_stream_connect")
int BPF_PROG(iso_unix_stream_connect, struct sock *sock, struct sock *other, struct sock *newsk)
{
	struct iso_net n = {.label = iso_inside(), .hook = ISO_HOOK_unix_stream_connect};

	if (!n.label)
		return 0;
	n.type = ISO_SOCK_STREAM;
	return iso_judge_peer(&n, other);
}

SEC("lsm/unix_may_send")
int BPF_PROG(iso_unix_may_send, struct socket *sock, struct socket *other)
{
	struct iso_net n = {.label = iso_inside(), .hook = ISO_HOOK_unix_may_send};
	struct sock *peer;

	if (!n.label)
		return 0;
	n.type = ISO_SOCK_DGRAM;
	peer = other->sk;
	if (!peer)
		return iso_net_refuse(&n, ISO_REASON_UNREADABLE);
	return iso_judge_peer(&n, peer);
}

#endif
