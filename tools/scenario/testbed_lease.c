// SPDX-License-Identifier: BSD-2-Clause
/*
 * Regions for one request alone, at both of its ends: what a program does whose library
 * has a cache of pinned regions (system pincache). Each process registers what the request
 * names before it is posted, and gives it back when it is complete.
 */
#include <errno.h>
#include <string.h>

#include "faultline/system_rows.h"
#include "tools/scenario/testbed_internal.h"

bool testbed_row_caches(const struct fl_system_row *row)
{
	return row->before == FL_BEFORE_CACHE;
}

bool testbed_leases(const struct testbed_process *p)
{
	return testbed_row_caches(&p->system.row);
}

/* Numbers of its regions that no buffer has. */
static int lease_number(struct testbed_process *p, uint32_t *number)
{
	unsigned int i;

	for (i = 0; i < TESTBED_LEASES; i++)
		if (!p->leased[i]) {
			*number = TESTBED_BUFFERS + i;
			return 0;
		}
	return -ENOSPC;
}

static int lease_begin(struct testbed_lease *l, struct testbed_buffer *b,
		       uint64_t va, uint32_t bytes, unsigned int access,
		       uint32_t *key)
{
	struct testbed_process *p = b->process;
	struct rpc_command o = { .kind = RPC_REGISTER, .addr = va,
				 .bytes = bytes, .access = access };
	struct rpc_answer r;
	int err;

	if (!testbed_leases(p) || b->registered || p->gone)
		return 0;
	err = lease_number(p, &o.id);
	if (!err)
		err = testbed_rpc(p, &o, &r, NULL);
	if (err)
		return err;
	*l = (struct testbed_lease){ b, o.id };
	p->leased[o.id - TESTBED_BUFFERS] = true;
	b->leases++;
	b->was_registered = true;
	*key = r.key;
	testbed_model_region(b);
	return 0;
}

static int lease_end(struct testbed_lease *l)
{
	struct testbed_buffer *b = l->buffer;
	struct rpc_command o = { .kind = RPC_DEREGISTER, .id = l->number };
	struct rpc_answer r;

	if (!b)
		return 0;
	l->buffer = NULL;
	b->leases--;
	b->process->leased[l->number - TESTBED_BUFFERS] = false;
	return b->process->gone ? 0 : testbed_rpc(b->process, &o, &r, NULL);
}

int testbed_lease_end(struct testbed_work *k)
{
	int err = lease_end(&k->lease[0]), other = lease_end(&k->lease[1]);

	return err ? err : other;
}

int testbed_post_leased(struct testbed *w, struct testbed_work *k)
{
	bool read = k->opcode == FL_READ;
	int err;

	memset(k->lease, 0, sizeof(k->lease));
	err = lease_begin(&k->lease[0], k->local, k->local_va, k->bytes,
			  read ? FL_LOCAL_WRITE : 0, &k->lkey);
	if (!err)
		err = lease_begin(&k->lease[1], k->remote, k->remote_va, k->bytes,
				  read ? FL_REMOTE_READ : FL_REMOTE_WRITE,
				  &k->rkey);
	if (!err)
		err = testbed_post(w, k);
	if (err)
		testbed_lease_end(k);	/* why it was not posted is worth more */
	return err;
}
