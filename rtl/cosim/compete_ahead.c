// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bursts that the Verilog reads ahead: of the block whose turn is next, while the cells of another
 * leave. The C engine has no such step. It does them when that block is chosen, with the answers
 * that they got, unless the context was not READY all the time: then the Verilog has to read the
 * block again. What another one was chosen instead of is forgotten on both sides.
 */
#include "rtl/cosim/compete.h"

bool ahead_burst(const struct card *x, uint8_t ctx)
{
	return x->c->ch[CH_READ].ctx != ctx;
}

void ahead_begins(struct card *x, const struct burst *b)
{
	const struct burst *last;
	struct ahead *a = &x->ahead;

	if (!a->count || a->spoilt || a->burst[0].ctx != b->ctx) {
		a->count = 0;
		a->spoilt = !(x->tx_ready >> b->ctx & 1);
	}
	last = a->count ? &a->burst[a->count - 1] : NULL;
	if (a->count == AHEAD_MOST || (last && b->va != last->va + last->len))
		card_differ(x, "burst %u that is read ahead of context %u, at 0x%llx, does not "
			    "follow the one before", a->count, b->ctx, (unsigned long long)b->va);
	a->burst[a->count++] = *b;
}

void ahead_record(struct card *x)
{
	unsigned int i = (unsigned int)x->out.trc_index;
	bool ready = x->out.trc_to == FL_TX_READY;

	x->tx_ready = (x->tx_ready & ~(1u << i)) | (uint32_t)ready << i;
	if (x->ahead.count && x->ahead.burst[0].ctx == i && !ready)
		x->ahead.spoilt = true;
}

unsigned int ahead_chosen(struct card *x)
{
	struct ahead *a = &x->ahead;
	unsigned int n = a->count;

	a->count = 0;
	if (!n || a->spoilt || x->c->ch[CH_READ].ctx != a->burst[0].ctx) {
		k.in_vain += n;
		return 0;
	}
	k.ahead += n;
	return n;
}
