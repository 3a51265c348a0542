// SPDX-License-Identifier: BSD-2-Clause
#include "rig/shim.h"

struct thing thing;

static struct rule_case *rule_cases, **rule_last = &rule_cases;

void rule_case_add(struct rule_case *c)
{
	*rule_last = c;
	rule_last = &c->next;
}

void thing_takes_one(struct work_struct *work)
{
	mutex_lock(&thing.one);
	mutex_unlock(&thing.one);
}

void thing_make(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	int err;

	memset(&thing, 0, sizeof(thing));
	thing.shim = shim_find(n->kernel);
	thing.mm = shim_mm_create(thing.shim, host_process_mm(n->process));
	thing.task.mm = thing.mm;
	thing.va = (uintptr_t)host_mmap(n->process, RIG_PAGE,
				    HOST_READ | HOST_WRITE, NULL, 0, &err);
	EXPECT(thing.mm && thing.va);
}

void thing_init(void)
{
	mutex_init(&thing.one);
	mutex_init(&thing.two);
	spin_lock_init(&thing.spin);
	spin_lock_init(&thing.other);
	/* Here: a program that was forked has no threads (tsan). */
	thing.wq = alloc_workqueue("test", WQ_UNBOUND, 0);
	INIT_WORK(&thing.work, thing_takes_one);
	kref_init(&thing.ref);
	INIT_LIST_HEAD(&thing.list);
	init_waitqueue_head(&thing.wait);
}

/* What the case says on standard error, in a program of its own. */
static int rule_case_run(const struct rule_case *c, char *said, size_t bytes)
{
	int status, out[2];
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	fflush(stdout);
	EXPECT_EQ(pipe(out), 0);
	pid = fork();
	if (!pid) {
		dup2(out[1], 2);
		c->breaks();
		_exit(0);
	}
	close(out[1]);
	while (n < bytes - 1 && (got = read(out[0], said + n, bytes - 1 - n)) > 0)
		n += (size_t)got;
	said[n] = 0;
	close(out[0]);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

void rule_cases_run(struct rig *r)
{
	const struct rule_case *c;
	char said[4096], rule[64];
	struct shim_cpu before;
	int status;

	thing_make(r);
	before = shim_enter(thing.shim, &thing.task, SHIM_IN_TASK);
	thing_init();
	for (c = rule_cases; c; c = c->next) {
		STEP("%s", c->name);
		status = rule_case_run(c, said, sizeof(said));
		snprintf(rule, sizeof(rule), "the rule \"%s\"", c->rule);
		if (!strstr(said, rule) || !strstr(said, c->words))
			STEP("said: %s", said);
		EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
		EXPECT(strstr(said, rule));
		EXPECT(strstr(said, c->words));
	}
	destroy_workqueue(thing.wq);
	shim_leave(&before);
	mmdrop(thing.mm);
}
