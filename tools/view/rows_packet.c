// SPDX-License-Identifier: BSD-2-Clause
/* Rows of a reliable connection: its packets, and the pages that the card's own table lacks. */
#include "faultline/entries.h"
#include "nic/transport/rc_wire.h"
#include "nic/wire.h"
#include "tools/scenario/words.h"
#include "tools/view/rows.h"

bool row_is_packet(const struct trace_record *r)
{
	switch (r->event) {
	case EV_RC_SEND: case EV_RC_ACK: case EV_RC_NAK: case EV_RC_RNR:
	case EV_RC_WAIT: case EV_RC_REWIND: case EV_RC_TIMEOUT: case EV_RC_DUPLICATE:
	case EV_RC_DROP: case EV_RC_MISS: case EV_RC_ERROR: case EV_RC_BURST:
	case EV_NIC_FAULT: case EV_NIC_FAULT_AGAIN: case EV_NIC_RESUME:
	case EV_DRV_IRQ_ODP: case EV_DRV_LOAD: case EV_FW_RECV:
		return true;
	default:
		return false;
	}
}

static void packet_arrow(struct row *row, enum lane from, enum lane to, enum tone tone)
{
	row->from = from;
	row->to = to;
	row->tone = tone;
}

/* What changes the course breaks it: packets before and after are not one row. */
bool packet_row(struct row *row, const struct trace_record *r, bool away)
{
	enum lane eng = away ? LANE_ENG_B : LANE_ENG;
	enum lane other = away ? LANE_ENG : LANE_ENG_B;
	enum lane drv = away ? LANE_DRV_B : LANE_DRV;

	row->breaks = true;
	switch (r->event) {
	case EV_RC_SEND:
		row->breaks = false;
		row->sum = r->arg[3];
		packet_arrow(row, eng, other, TONE_PLAIN);
		return true;
	case EV_RC_BURST:
		row->breaks = false;
		row->sum = r->arg[3];
		packet_arrow(row, eng, eng, TONE_PLAIN);
		return true;
	case EV_FW_RECV:
		packet_arrow(row, eng, eng, TONE_PLAIN);
		return true;
	case EV_RC_ACK:
		packet_arrow(row, eng, other, TONE_PLAIN);
		return true;
	case EV_RC_NAK: case EV_RC_RNR:
		packet_arrow(row, eng, other, TONE_FAULT);
		return true;
	case EV_RC_MISS:
		packet_arrow(row, eng, eng, TONE_FAULT);
		return true;
	case EV_NIC_FAULT:
		packet_arrow(row, eng, drv, TONE_FAULT);
		return true;
	case EV_NIC_FAULT_AGAIN:
		packet_arrow(row, eng, eng, TONE_FAULT);
		return true;
	case EV_DRV_IRQ_ODP:
		packet_arrow(row, drv, drv, TONE_FAULT);
		return true;
	case EV_DRV_LOAD: case EV_NIC_RESUME:
		packet_arrow(row, drv, eng, TONE_REPAIR);
		return true;
	case EV_RC_REWIND:
		packet_arrow(row, eng, eng, TONE_REPAIR);
		return true;
	case EV_RC_DROP:
		row->breaks = false;
		packet_arrow(row, eng, eng, TONE_TROUBLE);
		return true;
	default:
		packet_arrow(row, eng, eng, TONE_TROUBLE);
		return true;
	}
}

bool packet_same(const struct trace_record *a, const struct trace_record *b)
{
	switch (a->event) {
	case EV_RC_SEND:
		return a->arg[2] == b->arg[2];
	case EV_RC_BURST:
		return a->arg[1] == b->arg[1];
	case EV_RC_DROP:
		return a->arg[3] == b->arg[3];
	default:
		return true;
	}
}

static const char *nak_reason(uint64_t syndrome)
{
	switch (syndrome) {
	case RC_SYN_NAK_SEQUENCE:
		return "an earlier packet is missing";
	case RC_SYN_NAK_INVALID:
		return "the request makes no sense";
	case RC_SYN_NAK_ACCESS:
		return "no access";
	default:
		return "it failed here";
	}
}

static const char *drop_reason(uint64_t why)
{
	static const char *const reason[] = {
		"malformed", "no such queue pair", "of another node", "no room",
		"an earlier one is missing", "the connection ends",
		"a duplicate that is forgotten", "an answer of no use",
		"a response before it is due", "its READ waits for a page",
		"its page is missing", "no response to what was asked",
	};

	return why < sizeof(reason) / sizeof(reason[0]) ? reason[why] : "?";
}

static const char *back_reason(uint64_t why)
{
	static const char *const reason[] = {
		"the peer misses it", "a response was lost", "time-out",
		"the wait is over", "the page is there",
	};

	return why < sizeof(reason) / sizeof(reason[0]) ? reason[why] : "?";
}

static void send_label(const struct row *row, char *text, size_t bytes)
{
	const char *name = wire_opcode_name((uint8_t)row->rec.arg[2]);
	char b[24];

	if (row->count > 1)
		snprintf(text, bytes, "%s: %llu packets, %s", name,
			 (unsigned long long)row->count, view_bytes(row->sum, b));
	else if (row->sum)
		snprintf(text, bytes, "%s, PSN %llu: %s", name,
			 (unsigned long long)row->rec.arg[1], view_bytes(row->sum, b));
	else
		snprintf(text, bytes, "%s, PSN %llu", name,
			 (unsigned long long)row->rec.arg[1]);
}

static void wait_label(const struct trace_record *r, char *text, size_t bytes)
{
	snprintf(text, bytes, "sends nothing for %llu.%03llu ms",
		 (unsigned long long)(r->arg[2] / 1000000),
		 (unsigned long long)(r->arg[2] / 1000 % 1000));
}

void packet_label(const struct row *row, char *text, size_t bytes)
{
	const struct trace_record *r = &row->rec;
	unsigned long long psn = r->arg[1], n = row->count;
	char b[24];

	switch (r->event) {
	case EV_RC_SEND:
		send_label(row, text, bytes);
		break;
	case EV_RC_BURST:
		snprintf(text, bytes, "%s %s", r->arg[1] ? "writes" : "reads",
			 view_bytes(row->sum, b));
		break;
	case EV_FW_RECV:
		snprintf(text, bytes, "takes a receive of %s",
			 view_bytes(r->arg[2], b));
		break;
	case EV_RC_ACK:
		snprintf(text, bytes, "ACK up to PSN %llu", psn);
		break;
	case EV_RC_NAK:
		snprintf(text, bytes, "NAK, PSN %llu: %s", psn, nak_reason(r->arg[2]));
		break;
	case EV_RC_RNR:
		snprintf(text, bytes, "RNR NAK, PSN %llu: come again", psn);
		break;
	case EV_RC_WAIT:
		wait_label(r, text, bytes);
		break;
	case EV_RC_REWIND:
		snprintf(text, bytes, "goes back to PSN %llu: %s", psn,
			 back_reason(r->arg[2]));
		break;
	case EV_RC_TIMEOUT:
		snprintf(text, bytes, "no answer to PSN %llu: time-out", psn);
		break;
	case EV_RC_DUPLICATE:
		snprintf(text, bytes, "PSN %llu was here before", psn);
		break;
	case EV_RC_DROP:
		snprintf(text, bytes, "drops %llu packet%s: %s", n, word_plural(n),
			 drop_reason(r->arg[3]));
		break;
	case EV_RC_MISS:
		snprintf(text, bytes, "its table lacks the page at 0x%llx",
			 (unsigned long long)r->arg[2]);
		break;
	case EV_NIC_FAULT:
		snprintf(text, bytes, "fault record, token %llu",
			 (unsigned long long)r->arg[3]);
		break;
	case EV_NIC_FAULT_AGAIN:
		snprintf(text, bytes, "missing still; it was reported");
		break;
	case EV_DRV_IRQ_ODP:
		snprintf(text, bytes, "top half: a report");
		break;
	case EV_DRV_LOAD:
		snprintf(text, bytes, "%llu page%s into the card's table",
			 (unsigned long long)r->arg[2], word_plural(r->arg[2]));
		break;
	case EV_NIC_RESUME:
		snprintf(text, bytes, r->arg[2] ? "gives up: status %llu" : "resume",
			 (unsigned long long)r->arg[2]);
		break;
	default:
		snprintf(text, bytes, "the connection ends: %s",
			 word_status_name((int)r->arg[2]));
	}
}
