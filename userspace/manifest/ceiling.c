/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading the ceiling. Whoever can write it decides what the host allows: only root may. */
#include "manifest/ceiling.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "common/io.h"
#include "manifest/check.h"
#include "manifest/read.h"

#define STEP "ceiling"

static int wrong(const char *name, const struct iso_findings *f, int r, struct iso_error *e)
{
	if (!f->count)
		return iso_error_set(e, r, STEP, "try again", "cannot read %s: %m", name);
	return iso_error_set(e, -EINVAL, STEP, "have the operator correct the file",
			     "%s:%u:%u: %s: %s", name, f->items[0].line, f->items[0].column,
			     f->items[0].pointer, f->items[0].message);
}

/* The id of a name in a file of passwd's or group's form, which is read without any library of
 * names: isoctl is linked statically. */
static int id_of(const char *name, bool group, uint32_t *ret)
{
	ISO_AUTO_FCLOSE FILE *f = fopen(group ? "/etc/group" : "/etc/passwd", "re");
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(name, &end, 10);
	if (name[0] >= '0' && name[0] <= '9' && !*end && !errno && n < UINT32_MAX) {
		*ret = (uint32_t)n;
		return 0;
	}
	if (!f)
		return -errno;
	for (;;) {
		struct passwd *user = group ? NULL : fgetpwent(f);
		struct group *entry = group ? fgetgrent(f) : NULL;

		if (!user && !entry)
			return -ENOENT;
		if (strcmp(user ? user->pw_name : entry->gr_name, name))
			continue;
		*ret = user ? user->pw_uid : entry->gr_gid;
		return 0;
	}
}

static int read_callers(json_t *list, bool group, uint32_t **ret, size_t *ret_count,
			struct iso_error *e)
{
	uint32_t *ids = calloc(json_array_size(list) + 1, sizeof *ids);
	json_t *v;
	size_t i;
	int r;

	if (!ids)
		return -ENOMEM;
	*ret = ids;
	json_array_foreach (list, i, v) {
		r = id_of(json_string_value(v), group, &ids[i]);
		if (r)
			return iso_error_set(e, r, STEP, "correct callers, or give the number",
					     "this host knows no %s named %s",
					     group ? "group" : "user", json_string_value(v));
		*ret_count = i + 1;
	}
	return 0;
}

static int fill(json_t *root, struct iso_ceiling *c, struct iso_error *e)
{
	struct iso_reader d = {.table = &iso_ceiling_table, .root = root};
	int r;

	_Static_assert(sizeof(uid_t) == 4 && sizeof(gid_t) == 4, "ids are read as 32 bits");
	r = read_callers(iso_read_at(root, "/callers/users"), false, &c->callers.users,
			 &c->callers.user_count, e);
	if (!r)
		r = read_callers(iso_read_at(root, "/callers/groups"), true, &c->callers.groups,
				 &c->callers.group_count, e);
	if (r)
		return r;
	iso_read_list(&d, root, "/input_roots", &c->input_roots);
	iso_read_list(&d, root, "/host_root", &c->host_root);
	iso_read_list(&d, root, "/allow_programs", &c->allow_programs);
	c->shared_kernel = iso_read_is(&d, root, "/shared_kernel", "true");
	c->opaque_egress = iso_read_is(&d, root, "/opaque_egress", "true");
	c->private_networks = iso_read_is(&d, root, "/private_networks", "true");
	c->contain_daemons = iso_read_is(&d, root, "/contain_daemons", "true");
	c->io_uring = iso_read_is(&d, root, "/io_uring", "true");
	c->max_sandboxes = (uint32_t)iso_read_number(&d, root, "/max_sandboxes");
	c->max_guests = (uint32_t)iso_read_number(&d, root, "/max_guests");
	c->total_memory = iso_read_number(&d, root, "/total/memory");
	c->total_cpus_milli = iso_read_number(&d, root, "/total/cpus");
	c->concurrent = (uint32_t)iso_read_number(&d, root, "/limits/concurrent");
	return d.r;
}

int iso_ceiling_parse(const char *name, const char *text, size_t size, struct iso_ceiling **ret,
		      struct iso_error *e)
{
	struct iso_check check = {.text = text, .size = size, .table = &iso_ceiling_table};
	struct iso_findings findings = {0};
	struct iso_ceiling *c = NULL;
	int r;

	if (iso_check_document(&check) == 0)
		iso_check_shape(&check);
	r = iso_check_finish(&check, &findings);
	if (r) {
		r = wrong(name, &findings, r, e);
	} else {
		c = calloc(1, sizeof *c);
		r = c ? fill(check.root, c, e) : -ENOMEM;
		if (r == -ENOMEM)
			iso_error_set(e, r, STEP, "try again", "cannot read %s: %m", name);
	}
	if (r)
		iso_ceiling_free(c);
	else
		c->private = json_incref(check.root);
	iso_findings_free(&findings);
	iso_check_release(&check);
	if (!r)
		*ret = c;
	return r;
}

/* Root's, and no one else may write it. */
static int guarded(int fd, const char *name, struct iso_error *e)
{
	struct stat st;

	if (fstat(fd, &st))
		return iso_error_set(e, -errno, STEP, "check the file system",
				     "cannot look at %s: %m", name);
	if (st.st_uid == 0 && !(st.st_mode & 022))
		return 0;
	return iso_error_set(e, -EPERM, STEP, "chown root: and chmod go-w, file and folder",
			     "%s can be written by others than root, so it bounds nothing", name);
}

int iso_ceiling_load(const char *path, struct iso_ceiling **ret, struct iso_error *e)
{
	ISO_AUTO_FREE char *folder = strdup(path), *text = NULL;
	ISO_AUTO_CLOSE int dir = -1, fd = -1;
	char *slash = folder ? strrchr(folder, '/') : NULL;
	size_t size = 0;
	int r;

	if (!slash)
		return iso_error_set(e, folder ? -EINVAL : -ENOMEM, STEP, "give an absolute path",
				     "cannot open %s: %m", path);
	*slash = '\0';
	dir = open(slash == folder ? "/" : folder, O_DIRECTORY | O_CLOEXEC | O_PATH);
	if (dir >= 0)
		fd = openat(dir, slash + 1, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		*ret = NULL;
		return 0;
	}
	if (fd < 0)
		return iso_error_set(e, -errno, STEP, "a plain file that everyone may read",
				     "cannot open %s: %m", path);
	r = guarded(dir, folder, e);
	if (!r)
		r = guarded(fd, path, e);
	if (r)
		return r;
	r = iso_read_all(fd, ISO_MANIFEST_MAX, &text, &size);
	if (r)
		return iso_error_set(e, r, STEP, "a plain file of at most 1 MiB",
				     "cannot read %s: %m", path);
	return iso_ceiling_parse(path, text, size, ret, e);
}

void iso_ceiling_free(struct iso_ceiling *c)
{
	if (!c)
		return;
	free(c->callers.users);
	free(c->callers.groups);
	iso_strv_free(&c->input_roots);
	iso_strv_free(&c->host_root);
	iso_strv_free(&c->allow_programs);
	json_decref(c->private);
	free(c);
}
