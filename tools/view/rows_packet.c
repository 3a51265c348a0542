// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of the packet units: packets of a reliable connection, datagrams, fragments; and the pages
 * that the card's own table lacks.
 */
#include "faultline/entries.h"
#include "nic/transport/rc_wire.h"
#include "nic/wire.h"
#include "tools/scenario/words.h"
#include "tools/view/rows.h"

/* A note on a lane of the record's board, or an arrow from there. */
enum place { AT_CARD, AT_DRIVER, TO_PEER, TO_DRIVER, TO_CARD };

#define ALONE	(-1)	/* never one row with another */
#define ANY	(-2)	/* with each of its kind */

/* same: the argument in which two that become one row agree; sum: what is added up, or 0. */
static const struct kind {
	uint16_t event;
	uint8_t place, tone;
	int8_t same, sum;
} kinds[] = {
	{ EV_RC_SEND, TO_PEER, TONE_PLAIN, 2, 3 },
	{ EV_RC_BURST, AT_CARD, TONE_PLAIN, 1, 3 },
	{ EV_RC_ACK, TO_PEER, TONE_PLAIN, ALONE, 0 },
	{ EV_RC_NAK, TO_PEER, TONE_FAULT, ALONE, 0 },
	{ EV_RC_RNR, TO_PEER, TONE_FAULT, ALONE, 0 },
	{ EV_RC_WAIT, AT_CARD, TONE_TROUBLE, ALONE, 0 },
	{ EV_RC_REWIND, AT_CARD, TONE_REPAIR, ALONE, 0 },
	{ EV_RC_TIMEOUT, AT_CARD, TONE_TROUBLE, ALONE, 0 },
	{ EV_RC_DUPLICATE, AT_CARD, TONE_TROUBLE, ALONE, 0 },
	{ EV_RC_DROP, AT_CARD, TONE_TROUBLE, 3, 0 },
	{ EV_RC_MISS, AT_CARD, TONE_FAULT, ALONE, 0 },
	{ EV_RC_ERROR, AT_CARD, TONE_TROUBLE, ALONE, 0 },
	{ EV_FW_RECV, AT_CARD, TONE_PLAIN, ALONE, 0 },
	{ EV_NIC_FAULT, TO_DRIVER, TONE_FAULT, ALONE, 0 },
	{ EV_NIC_FAULT_AGAIN, AT_CARD, TONE_FAULT, ALONE, 0 },
	{ EV_NIC_RESUME, TO_CARD, TONE_REPAIR, ALONE, 0 },
	{ EV_DRV_IRQ_ODP, AT_DRIVER, TONE_FAULT, ALONE, 0 },
	{ EV_DRV_IRQ_RING, AT_DRIVER, TONE_FAULT, ALONE, 0 },
	{ EV_DRV_LOAD, TO_CARD, TONE_REPAIR, ALONE, 0 },
	{ EV_DRV_COPY, AT_DRIVER, TONE_REPAIR, ALONE, 0 },
	{ EV_UD_SEND, TO_PEER, TONE_PLAIN, ALONE, 0 },
	{ EV_UD_DIVERT, AT_CARD, TONE_FAULT, ALONE, 0 },
	{ EV_UD_RELEASE, AT_CARD, TONE_REPAIR, ALONE, 0 },
	{ EV_UD_DROP, AT_CARD, TONE_TROUBLE, 3, 0 },
	{ EV_NV_SEND, TO_PEER, TONE_PLAIN, ANY, 3 },
	{ EV_NV_ACK, TO_PEER, TONE_PLAIN, 3, 0 },
	{ EV_NV_CREDIT, TO_PEER, TONE_PLAIN, ANY, 0 },
	{ EV_NV_REFUSE, TO_PEER, TONE_FAULT, ALONE, 0 },
	{ EV_NV_MISS, AT_CARD, TONE_FAULT, ALONE, 0 },
	{ EV_NV_DIVERT, AT_CARD, TONE_FAULT, ALONE, 0 },
	{ EV_NV_RELEASE, TO_CARD, TONE_REPAIR, ALONE, 0 },
	{ EV_NV_CREDIT_WAIT, AT_CARD, TONE_TROUBLE, ANY, 0 },
	{ EV_NV_ORDER_WAIT, AT_CARD, TONE_TROUBLE, ANY, 0 },
	{ EV_NV_COUNT, AT_CARD, TONE_PLAIN, ALONE, 0 },
	{ EV_NV_DUPLICATE, AT_CARD, TONE_TROUBLE, ANY, 0 },
	{ EV_NV_TIMEOUT, AT_CARD, TONE_TROUBLE, ALONE, 0 },
	{ EV_NV_DROP, AT_CARD, TONE_TROUBLE, 3, 0 },
	{ EV_NV_ERROR, AT_CARD, TONE_TROUBLE, ALONE, 0 },
};

static const struct kind *kind_of(const struct trace_record *r)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].event == r->event)
			return &kinds[i];
	return NULL;
}

bool row_is_packet(const struct trace_record *r)
{
	return kind_of(r) != NULL;
}

bool wire_is_told(uint8_t opcode)
{
	return wire_header(opcode) == WIRE_STANDARD ||
	       (opcode >= WOP_NV_WRITE && opcode <= WOP_NV_CREDIT);
}

bool packet_row(struct row *row, const struct trace_record *r, bool away)
{
	enum lane eng = away ? LANE_ENG_B : LANE_ENG;
	enum lane other = away ? LANE_ENG : LANE_ENG_B;
	enum lane drv = away ? LANE_DRV_B : LANE_DRV;
	const struct kind *k = kind_of(r);

	row->tone = (enum tone)k->tone;
	row->sum = k->sum ? r->arg[k->sum] : 0;
	/* What changes the course: packets before and after it are not one row. */
	row->breaks = k->same == ALONE;
	row->from = k->place == AT_DRIVER || k->place == TO_CARD ? drv : eng;
	row->to = k->place == TO_PEER ? other : k->place == TO_DRIVER ? drv :
		  k->place == TO_CARD ? eng : row->from;
	return true;
}

bool packet_same(const struct trace_record *a, const struct trace_record *b)
{
	const struct kind *k = kind_of(a);

	return k->same < 0 || a->arg[k->same] == b->arg[k->same];
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

/* Datagrams and fragments. */
static void message_label(const struct row *row, char *text, size_t bytes)
{
	const struct trace_record *r = &row->rec;
	unsigned long long a = r->arg[1], n = row->count;
	char b[24];

	switch (r->event) {
	case EV_UD_SEND:
		snprintf(text, bytes, "datagram %llu: %s", a, view_bytes(r->arg[3], b));
		break;
	case EV_UD_DIVERT:
		snprintf(text, bytes, "into the backup ring, for receive %llu", a);
		break;
	case EV_UD_RELEASE:
		snprintf(text, bytes, "announces %llu from receive %llu on",
			 (unsigned long long)r->arg[2], a);
		break;
	case EV_UD_DROP: case EV_NV_DROP:
		snprintf(text, bytes, "%llu packet%s lost here (why %llu)", n,
			 word_plural(n), (unsigned long long)r->arg[3]);
		break;
	case EV_NV_SEND:
		snprintf(text, bytes, "%llu fragment%s from %llu on: %s", n, word_plural(n),
			 a, view_bytes(row->sum, b));
		break;
	case EV_NV_ACK:
		snprintf(text, bytes, r->arg[3] ? "acknowledges %llu, redirected" :
						  "acknowledges %llu", a);
		break;
	case EV_NV_CREDIT:
		snprintf(text, bytes, r->arg[3] ? "asks how far it is" : "credits: %llu",
			 (unsigned long long)r->arg[2]);
		break;
	case EV_NV_REFUSE:
		snprintf(text, bytes, "refuses %llu: %s", a,
			 word_status_name((int)r->arg[2]));
		break;
	case EV_NV_MISS:
		snprintf(text, bytes, "its table lacks the page at 0x%llx",
			 (unsigned long long)r->arg[2]);
		break;
	case EV_NV_DIVERT:
		snprintf(text, bytes, "%llu into slot %llu of the system buffer", a,
			 (unsigned long long)r->arg[3]);
		break;
	case EV_NV_RELEASE:
		snprintf(text, bytes, "slot %llu is free", (unsigned long long)r->arg[2]);
		break;
	case EV_NV_CREDIT_WAIT:
		snprintf(text, bytes, "out of credits, before %llu", a);
		break;
	case EV_NV_ORDER_WAIT:
		snprintf(text, bytes, "%llu waits for one that it would overwrite", a);
		break;
	case EV_NV_COUNT:
		snprintf(text, bytes, "event counter %llu rises", a);
		break;
	case EV_NV_TIMEOUT:
		snprintf(text, bytes, "no answer to %llu: time-out", a);
		break;
	default:
		snprintf(text, bytes, "%llu was here before", a);
	}
}

/* The card's own table, and who fills it. */
static void table_label(const struct row *row, char *text, size_t bytes)
{
	const struct trace_record *r = &row->rec;
	char b[24];

	switch (r->event) {
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
	case EV_DRV_IRQ_RING:
		snprintf(text, bytes, "top half: a descriptor of the backup ring");
		break;
	case EV_DRV_COPY:
		snprintf(text, bytes, r->arg[3] ? "cannot copy %s" : "copies %s",
			 view_bytes(r->arg[2], b));
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
		message_label(row, text, bytes);
	}
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
	case EV_RC_ERROR: case EV_NV_ERROR:
		snprintf(text, bytes, "the connection ends: %s",
			 word_status_name((int)r->arg[2]));
		break;
	default:
		table_label(row, text, bytes);
	}
}
