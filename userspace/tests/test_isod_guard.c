/* SPDX-License-Identifier: BSD-2-Clause */
/* What the agent says of the guard, to whom, and how it is given up (fake_host.h). */
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "fake_call.h"

static void the_guard_is_shown(void **state)
{
	struct iso_client *c = fake_agent_join(&fake_agent);
	struct iso_failure f = {0};
	json_t *reply = NULL, *guard, *row;

	(void)state;
	assert_int_equal(iso_client_call(c, "Guard", json_object(), &reply, &f), 0);
	guard = json_object_get(reply, "guard");
	assert_string_equal(json_string_value(json_object_get(guard, "state")), "locked");
	assert_int_equal(json_integer_value(json_object_get(guard, "refused")), 3);
	assert_true(json_integer_value(json_object_get(guard, "since_ms")) > 0);
	assert_int_equal(json_array_size(json_object_get(guard, "objects")), 2);
	row = json_array_get(json_object_get(guard, "objects"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "kind")), "map");
	assert_int_equal(json_integer_value(json_object_get(row, "id")), 17);
	assert_string_equal(json_string_value(json_object_get(row, "name")), "iso_rules");
	row = json_array_get(json_object_get(guard, "programs"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "name")), "sixteen_letters_");
	assert_string_equal(json_string_value(json_object_get(row, "tag")), "abcd000000000000");
	json_decref(reply);
	iso_client_free(c);
}

static void a_member_does_not_give_it_up(void **state)
{
	const gid_t groups[] = {FAKE_MEMBERS};
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		struct iso_client_options o = {.socket = fake_agent.socket};
		struct iso_client *c = NULL;
		struct iso_failure f = {0};
		json_t *reply = NULL;

		if (setgroups(1, groups) < 0 ||
		    setresgid(FAKE_MEMBERS, FAKE_MEMBERS, FAKE_MEMBERS) < 0 ||
		    setresuid(65534, 65534, 65534) < 0 || iso_client_open(&o, &c, &f) < 0)
			_exit(1);
		if (iso_client_call(c, "Guard", json_object(), &reply, &f) < 0)
			_exit(2);
		_exit(iso_client_call(c, "Release", json_object(), &reply, &f) < 0 &&
				      f.class == ISO_CLASS_PERMISSION
			      ? 0
			      : 3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* It ends by itself, in order: what fake_agent_end finds has status 0. */
static void root_gives_it_up_and_the_agent_ends(void **state)
{
	struct iso_client *c = fake_agent_join(&fake_agent);
	struct iso_failure f = {0};
	json_t *reply = NULL;
	siginfo_t info = {0};

	(void)state;
	assert_int_equal(iso_client_call(c, "Release", json_object(), &reply, &f), 0);
	json_decref(reply);
	assert_int_equal(waitid(P_PID, (id_t)fake_agent.pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(info.si_code, CLD_EXITED);
	iso_client_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_AGENT(the_guard_is_shown),
		WITH_AGENT(a_member_does_not_give_it_up),
		WITH_AGENT(root_gives_it_up_and_the_agent_ends),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
