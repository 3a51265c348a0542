// SPDX-License-Identifier: BSD-2-Clause
#include "tools/work/counts.h"

#include <string.h>

#include "board/packets/packets.h"
#include "fabric/fabric.h"
#include "faultline.h"
#include "host/host.h"
#include "nic/transport/nv.h"
#include "nic/transport/rc.h"
#include "nic/transport/ud.h"
#include "tools/scenario/testbed.h"
#include "tools/work/pair.h"
#include "trace/trace.h"

void counts_add(struct work_counts *c, struct board *b, struct host_kernel *kernel,
		struct fabric *fabric)
{
	struct engine_stats e;
	struct rc_stats rc;
	struct nv_stats nv;
	struct ud_stats ud;
	struct fabric_stats f;
	struct host_stats h;
	int line;

	board_engine_stats(b, &e);
	board_rc_stats(b, &rc);
	board_ud_stats(b, &ud);
	board_nv_stats(b, &nv);
	fabric_stats(fabric, board_id(b), &f);
	host_stats(kernel, &h);
	c->pages_in += h.page_ins;
	c->pinned_peak += h.pinned_peak;
	c->resident_peak += h.resident_peak;
	c->wire_bytes += f.bytes;
	c->payload_bytes += e.payload_sent + rc.payload_sent + ud.payload_sent +
			    nv.payload_sent;
	/* Blocks, or packets. */
	c->refused += e.blocks_refused + rc.rnr_sent;
	c->resent += e.blocks_resent + rc.resent + nv.resent;
	for (line = 0; line < IRQ_LINES; line++)
		c->irqs[line] += h.irqs[line];
	c->cpu_irq_ns += h.cpu_irq_ns;
	c->cpu_work_ns += h.cpu_work_ns;
	c->cpu_calls_ns += h.cpu_calls_ns;
	c->copied_bytes += h.bytes_copied;
	for (line = 0; line < UD_DROP_WHYS; line++)
		c->dropped += ud.dropped[line];
}

static int counts_add_board(const struct pair *x, const struct testbed_board *b,
			    struct testbed_process *p, struct work_counts *c)
{
	struct fl_fault_counters faults = { 0 };
	int err = p ? testbed_counters(p, &faults) : 0;

	/* What a board elsewhere counts, its own program knows. */
	if (!b->far)
		counts_add(c, b->board, b->kernel, testbed_fabric(x->w));
	c->faults += faults.faults;
	return err;
}

int counts_read(const struct pair *x, struct testbed_process *const ask[2],
		struct work_counts *c)
{
	int err;

	memset(c, 0, sizeof(*c));
	err = counts_add_board(x, x->a, ask[0], c);
	if (!err)
		err = counts_add_board(x, x->b, ask[1], c);
	c->dropped += trace_count(testbed_trace(x->w), EV_FW_SILENT);
	return err;
}

void counts_since(struct work_counts *c, const struct work_counts *start)
{
	int line;

	c->faults -= start->faults;
	c->pages_in -= start->pages_in;
	c->wire_bytes -= start->wire_bytes;
	c->payload_bytes -= start->payload_bytes;
	c->refused -= start->refused;
	c->resent -= start->resent;
	c->dropped -= start->dropped;
	for (line = 0; line < IRQ_LINES; line++)
		c->irqs[line] -= start->irqs[line];
	c->cpu_irq_ns -= start->cpu_irq_ns;
	c->cpu_work_ns -= start->cpu_work_ns;
	c->cpu_calls_ns -= start->cpu_calls_ns;
	c->copied_bytes -= start->copied_bytes;
}

uint64_t counts_kernel_ns(const struct work_counts *c)
{
	return c->cpu_irq_ns + c->cpu_work_ns + c->cpu_calls_ns;
}
