// SPDX-License-Identifier: BSD-2-Clause
/* The words on the rows of a sequence picture. */
#include <string.h>

#include "faultline/entries.h"
#include "nic/wire.h"
#include "tools/scenario/words.h"
#include "tools/view/rows.h"

const char *view_bytes(uint64_t n, char text[24])
{
	if (n >= 1048576 && n % 1048576 == 0)
		snprintf(text, 24, "%llu MB", (unsigned long long)n >> 20);
	else if (n >= 1024 && n % 1024 == 0)
		snprintf(text, 24, "%llu KB", (unsigned long long)n >> 10);
	else
		snprintf(text, 24, "%llu B", (unsigned long long)n);
	return text;
}

static const char *op_name(uint64_t op)
{
	switch (op) {
	case FL_OP_READ: return "READ";
	case FL_OP_SEND: return "SEND";
	case FL_OP_FETCH_ADD: return "FETCH_ADD";
	case FL_OP_CMP_SWAP: return "CMP_SWAP";
	default: return "WRITE";
	}
}

void rows_title(const struct rows *rows, char *text, size_t bytes)
{
	if (rows->blocks)
		snprintf(text, bytes, "Transfer %u, block %u of %u", rows->xfer,
			 rows->block, rows->blocks);
	else
		snprintf(text, bytes, "Transfer %u", rows->xfer);
}

static void wire_label(const struct row *row, char *text, size_t bytes)
{
	const char *name = wire_opcode_name((uint8_t)row->rec.arg[0]);

	if (row->count > 1)
		snprintf(text, bytes, "%s: %llu packets", name,
			 (unsigned long long)row->count);
	else if (row->rec.arg[0] == WOP_REFUSED)
		snprintf(text, bytes, "%s: pages are missing", name);
	else if (row->rec.arg[0] == WOP_READY)
		snprintf(text, bytes, "%s: send block %u again", name,
			 row->rec.block);
	else if (row->rec.arg[0] == WOP_ACK)
		snprintf(text, bytes, "%s: block %u has landed", name,
			 row->rec.block);
	else
		snprintf(text, bytes, "%s", name);
}

static void smmu_label(const struct row *row, char *text, size_t bytes)
{
	const struct trace_record *r = &row->rec;
	unsigned long long n = row->count;

	switch (r->event) {
	case EV_SMMU_FAULT:
		snprintf(text, bytes, "FAULT at 0x%llx",
			 (unsigned long long)r->arg[1]);
		break;
	case EV_SMMU_MULTI:
		snprintf(text, bytes, "%llu more: only MULTI", n);
		break;
	case EV_SMMU_STALL:
		snprintf(text, bytes, "holds the access");
		break;
	case EV_SMMU_RESUME:
		snprintf(text, bytes, "%s", r->arg[1] ? "ends the access" :
							"the access goes on");
		break;
	case EV_SMMU_TERMINATED:
		snprintf(text, bytes, "refused: the bank has a fault");
		break;
	default:
		snprintf(text, bytes, "%llu translated, %llu by a walk", n,
			 (unsigned long long)row->second);
	}
}

static void driver_label(const struct row *row, char *text, size_t bytes)
{
	const struct trace_record *r = &row->rec;
	static const char *const from[] = { "zeros", "file", "swap" };
	unsigned long long n = row->count;

	switch (r->event) {
	case EV_DRV_IRQ_SMMU:
		snprintf(text, bytes, "interrupt, FSR 0x%llx",
			 (unsigned long long)r->arg[1]);
		break;
	case EV_DRV_IRQ_FAULT:
		snprintf(text, bytes, "top half: pages 0x%llx of the block",
			 (unsigned long long)r->arg[3]);
		break;
	case EV_DRV_WORK:
		snprintf(text, bytes, "fault worker begins");
		break;
	case EV_DRV_RESOLVE:
		if (row->count > 1)
			snprintf(text, bytes, "asked the kernel %llu times", n);
		else
			snprintf(text, bytes, "asked for %llu page%s",
				 (unsigned long long)r->arg[1],
				 word_plural(r->arg[1]));
		break;
	case EV_MM_PAGE_IN:
		snprintf(text, bytes, "kernel: %llu page%s in (%s)", n,
			 word_plural(n),
			 r->arg[3] < 3 ? from[r->arg[3]] : "?");
		break;
	case EV_DRV_READY:
		snprintf(text, bytes, r->arg[2] ? "gives up: status %llu" :
						  "ready register",
			 (unsigned long long)r->arg[2]);
		break;
	default:
		snprintf(text, bytes, "RESUME");
	}
}

static void card_label(const struct row *row, char *text, size_t bytes)
{
	const struct trace_record *r = &row->rec;
	char b[24];

	switch (r->event) {
	case EV_FW_WQE:
		snprintf(text, bytes, "firmware: takes the request");
		break;
	case EV_FW_BLOCK:
		snprintf(text, bytes, "firmware: block %u, %s", r->block,
			 view_bytes(r->arg[2], b));
		break;
	case EV_FW_CHECK:
		snprintf(text, bytes, r->arg[3] ? "firmware: refuses, %s" :
						  "firmware: accepts",
			 word_status_name((int)r->arg[3]));
		break;
	case EV_TX_BURST:
		snprintf(text, bytes, "reads %s", view_bytes(row->sum, b));
		break;
	case EV_RX_BURST:
		snprintf(text, bytes, "writes %s", view_bytes(row->sum, b));
		break;
	case EV_ENG_FAULT:
		snprintf(text, bytes, "fault event, pages 0x%llx",
			 (unsigned long long)r->arg[3]);
		break;
	case EV_FW_TIMEOUT:
		snprintf(text, bytes, "firmware: time-out");
		break;
	default:
		snprintf(text, bytes, "%s", trace_events[r->event].name);
	}
}

void row_label(const struct row *row, char *text, size_t bytes)
{
	const struct trace_record *r = &row->rec;
	char b[24];

	if (row_is_packet(r)) {
		packet_label(row, text, bytes);
		return;
	}
	switch (r->event) {
	case EV_LIB_POST:
		snprintf(text, bytes, "post %s %s", op_name(r->arg[1]),
			 view_bytes(r->arg[3], b));
		return;
	case EV_LIB_DOORBELL:
		snprintf(text, bytes, "doorbell");
		return;
	case EV_FW_COMPLETE: case EV_LIB_COMPLETE:
		snprintf(text, bytes, "completion: %s",
			 word_status_name((int)r->arg[1]));
		return;
	case EV_WIRE_SEND:
		wire_label(row, text, bytes);
		return;
	case EV_WIRE_LOST: case EV_WIRE_DAMAGED: case EV_WIRE_TWICE:
	case EV_WIRE_LATE:
		snprintf(text, bytes, "%s %s x%llu",
			 wire_opcode_name((uint8_t)r->arg[0]),
			 r->event == EV_WIRE_LOST ? "lost" :
			 r->event == EV_WIRE_DAMAGED ? "damaged" :
			 r->event == EV_WIRE_TWICE ? "doubled" : "late",
			 (unsigned long long)row->count);
		return;
	default:
		break;
	}
	switch (trace_events[r->event].unit) {
	case UNIT_SMMU:
		smmu_label(row, text, bytes);
		return;
	case UNIT_DRIVER: case UNIT_KERNEL:
		driver_label(row, text, bytes);
		return;
	default:
		card_label(row, text, bytes);
	}
}
