// SPDX-License-Identifier: BSD-2-Clause
/*
 * Grace periods by themselves, and a liburcu that only counts. One thread asks, so nobody
 * would ever wait.
 */
#include "labs/invalidate/subject_board.h"

#include <stdlib.h>

#include <urcu-qsbr.h>

#include "sim/sim_internal.h"

static struct {
	uint64_t registered, unregistered, synchronized, wrong;
} urcu;
static _Thread_local bool urcu_reader, urcu_known;

static void urcu_must(bool right, enum lab_urcu_call call)
{
	if (!right && !urcu.wrong)
		urcu.wrong = call;
}

void urcu_qsbr_register_thread(void)
{
	urcu_must(!urcu_known, LAB_CALL_REGISTER);
	urcu.registered++;
	urcu_known = urcu_reader = true;
}

void urcu_qsbr_unregister_thread(void)
{
	urcu_must(urcu_known, LAB_CALL_UNREGISTER);
	urcu.unregistered++;
	urcu_known = urcu_reader = false;
}

void urcu_qsbr_thread_online(void)
{
	urcu_must(urcu_known && !urcu_reader, LAB_CALL_ONLINE);
	urcu_reader = true;
}

void urcu_qsbr_thread_offline(void)
{
	urcu_must(urcu_known && urcu_reader, LAB_CALL_OFFLINE);
	urcu_reader = false;
}

void urcu_qsbr_quiescent_state(void)
{
	urcu_must(urcu_reader, LAB_CALL_QUIESCENT);
}

void urcu_qsbr_synchronize_rcu(void)
{
	urcu.synchronized++;
}

static struct sim *grace_sim;
static struct sim_grace *grace_of;

static void grace_new(bool threads)
{
	struct sim_config sc = { .mode = threads ? SIM_THREADS : SIM_LOCKSTEP };

	grace_sim = sim_create(&sc);
	grace_of = grace_sim ? sim_grace_create(grace_sim) : NULL;
	if (!grace_of)
		abort();
}

static void grace_call(uint64_t *q)
{
	unsigned int channel = (unsigned int)q[1] % 8;
	uint64_t op = q[0];

	q[0] = 0;
	if (op == LAB_GRACE_NEW || op == LAB_GRACE_NEW_THREADS)
		grace_new(op == LAB_GRACE_NEW_THREADS);
	else if (op == LAB_GRACE_ENTER)
		sim_grace_enter(grace_of, channel);
	else if (op == LAB_GRACE_EXIT)
		sim_grace_exit(grace_of, channel);
	else if (op == LAB_GRACE_START)
		sim_grace_start(grace_of);
	else
		q[0] = sim_grace_done(grace_of);
}

static void *reader_main(void *arg)
{
	int i;

	for (i = 0; i < 2; i++) {
		grace_thread_online();
		grace_thread_offline();
	}
	return arg;
}

static void grace_reader(uint64_t *q)
{
	pthread_t t;

	if (q[0] == LAB_READER_ONLINE)
		grace_thread_online();
	else if (q[0] == LAB_READER_OFFLINE)
		grace_thread_offline();
	else if (pthread_create(&t, NULL, reader_main, NULL) ||
		 pthread_join(t, NULL))
		abort();
}

static void tell_urcu(uint64_t *a)
{
	a[LAB_URCU_REGISTER] = urcu.registered;
	a[LAB_URCU_UNREGISTER] = urcu.unregistered;
	a[LAB_URCU_SYNCHRONIZE] = urcu.synchronized;
	a[LAB_URCU_READER] = urcu_reader;
	a[LAB_URCU_WRONG] = urcu.wrong;
}

bool subject_alone(struct subject_msg *m)
{
	if (m->op == LAB_GRACE)
		grace_call(m->arg);
	else if (m->op == LAB_READER)
		grace_reader(m->arg);
	else
		return false;
	if (m->op == LAB_READER || grace_sim)
		tell_urcu(m->arg + 1);
	return true;
}
