// SPDX-License-Identifier: BSD-2-Clause
/*
 * The generated headers against the single sources, independently of the
 * generator: here the compiler itself lays the structs out and pastes the names.
 */
#include <stddef.h>
#include <string.h>

#include "faultline/entries.h"
#include "faultline/fsm.h"
#include "faultline/pte.h"
#include "faultline/regs.h"
#include "faultline/smmu_regs.h"
#include "faultline/wire.h"

#include "tests/harness.h"

TEST("each member of an entry has the table's offset and type")
{
#define ENTRY(name, size, text) \
	EXPECT_EQ(sizeof(struct name), size);
#define EFLD(name, type, member, offset, text)				      \
	EXPECT_EQ(offsetof(struct name, member), offset);		      \
	EXPECT(__builtin_types_compatible_p(				      \
		__typeof__(((struct name *)0)->member), type));
#include "faultline/entries.def"
}

TEST("the members of an entry fill it without holes")
{
	size_t filled = 0, all = 0;

#define ENTRY(name, size, text) \
	all += (size);
#define EFLD(name, type, member, offset, text) \
	filled += sizeof(type);
#include "faultline/entries.def"
	EXPECT_NE(all, 0);
	EXPECT_EQ(filled, all);
}

TEST("each number of an entry has the table's value")
{
#define EENUM(group, name, value, text) \
	EXPECT_EQ(FL_##group##_##name, value);
#include "faultline/entries.def"
}

/* In-place mask of a field, written out bit by bit. */
static uint64_t mask_of(unsigned int lsb, unsigned int width)
{
	uint64_t mask = 0;

	while (width--)
		mask |= 1ull << (lsb + width);
	return mask;
}

TEST("each register and field of the SMMU header is that of the table")
{
#define SREG(page, name, offset, width, access, reset, text)		      \
	EXPECT_EQ(SMMU_##page##_##name, offset);			      \
	EXPECT_EQ(SMMU_##page##_##name##_RESET, reset);
#define SARR(page, name, offset, stride, count, width, access, reset, text)   \
	EXPECT_EQ(SMMU_##page##_##name(0), offset);			      \
	EXPECT_EQ(SMMU_##page##_##name((count) - 1),			      \
		  (offset) + (stride) * ((count) - 1));			      \
	EXPECT_EQ(SMMU_##page##_##name##_COUNT, count);			      \
	EXPECT_EQ(SMMU_##page##_##name##_STRIDE, stride);
#define SFLD(page, name, field, lsb, width, text)			      \
	EXPECT_EQ(SMMU_##page##_##name##_##field##_SHIFT, lsb);		      \
	EXPECT_EQ(SMMU_##page##_##name##_##field##_MASK,		      \
		  mask_of(lsb, width));
#include "faultline/smmu.def"
	EXPECT_EQ(SMMU_GR1_BASE, 0x1000);
	EXPECT_EQ(SMMU_CB_BASE(15), 0x1f000);
	EXPECT_EQ(SMMU_CB_FSR_TF, 2);
	EXPECT_EQ(sizeof(SMMU_CB_TTBR0_ASID_MASK), 8);
}

TEST("each register and field of the NIC header is that of the table")
{
#define NREG(page, name, offset, width, access, reset, text)		      \
	EXPECT_EQ(NIC_##page##_##name, offset);				      \
	EXPECT_EQ(NIC_##page##_##name##_RESET, reset);
#define NARR(page, name, offset, stride, count, width, access, reset, text)   \
	EXPECT_EQ(NIC_##page##_##name((count) - 1),			      \
		  (offset) + (stride) * ((count) - 1));			      \
	EXPECT_EQ(NIC_##page##_##name##_COUNT, count);
#define NFLD(page, name, field, lsb, width, text)			      \
	EXPECT_EQ(NIC_##page##_##name##_##field##_SHIFT, lsb);		      \
	EXPECT_EQ(NIC_##page##_##name##_##field##_MASK,			      \
		  mask_of(lsb, width));
#include "faultline/regs.def"
	EXPECT_EQ(NIC_CTX_BASE(15), 0x1780);
	EXPECT_EQ(NIC_DB_BASE(2), 0x12000);
}

TEST("bits of a descriptor are where the manual has them")
{
	/* DDI 0487, D8.3, by its own names; those of software as Linux has them or free. */
	EXPECT_EQ(PTE_VALID, 1);		/* [0] */
	EXPECT_EQ(PTE_TABLE_BIT, 2);		/* [1] */
	EXPECT_EQ(PTE_TYPE, 3);
	EXPECT_EQ(PTE_USER, 1 << 6);		/* AP[1] */
	EXPECT_EQ(PTE_RDONLY, 1 << 7);		/* AP[2] */
	EXPECT_EQ(PTE_SHARED, 3 << 8);		/* SH[1:0] */
	EXPECT_EQ(PTE_AF, 1 << 10);
	EXPECT_EQ(PTE_NG, 1 << 11);
	EXPECT_EQ(PTE_ADDR, 0x0000fffffffff000);
	EXPECT_EQ(PTE_DBM, 1ll << 51);
	EXPECT_EQ(PTE_PXN, 1ll << 53);
	EXPECT_EQ(PTE_UXN, 1ll << 54);
	EXPECT_EQ(PTE_TABLE_NOUSER, 1ll << 61);	/* APTable[0] */
	EXPECT_EQ(PTE_TABLE_RDONLY, 1ll << 62);	/* APTable[1] */
	/* What is left to software: 58 to 55. */
	EXPECT_EQ((PTE_DIRTY | PTE_SWAP | PTE_NONE) & ~(0xfll << 55), 0);
}

static void same_place(unsigned int byte, unsigned int bit, unsigned int width,
		       unsigned int want_byte, unsigned int want_bit,
		       unsigned int want_width)
{
	EXPECT_EQ(byte, want_byte);
	EXPECT_EQ(bit, want_bit);
	EXPECT_EQ(width, want_width);
}

TEST("each header field and opcode of the wire header is that of the table")
{
#define WHDR(name, bytes, text) \
	EXPECT_EQ(WIRE_##name##_BYTES, bytes);
#define WFLD(header, field, byte, bit, width, text)			      \
	same_place(WIRE_##header##_##field, byte, bit, width);		      \
	EXPECT_EQ(WIRE_##header##_##field##_BYTE, byte);		      \
	EXPECT_EQ(WIRE_##header##_##field##_WIDTH, width);
#define WOPC(name, value, header, text)					      \
	EXPECT_EQ(WOP_##name, value);					      \
	EXPECT_EQ(WOP_##name##_HEADER_BYTES, WIRE_##header##_BYTES);
#define WIRE_NONE_BYTES 0
#define WSTD(name, value, header1, header2, payload, text)		      \
	EXPECT_EQ(WOP_##name, value);					      \
	EXPECT_EQ(WOP_##name##_HEADER_BYTES,				      \
		  WIRE_##header1##_BYTES + WIRE_##header2##_BYTES);
#include "faultline/wire.def"
}

TEST("each state, event and note of the engine is that of the table")
{
	unsigned int states = 0, events = 0, arcs = 0;

#define FSTATE(machine, name, value, owner, text)			      \
	EXPECT_EQ(FL_##machine##_##name, value);			      \
	states++;
#define FEVENT(machine, name, value, source, text)			      \
	EXPECT_EQ(FL_##machine##_EV_##name, value);			      \
	events++;
#define ARC(machine, from, event, to, text)				      \
	EXPECT(FL_##machine##_##from < FL_##machine##_STATES);		      \
	EXPECT(FL_##machine##_EV_##event < FL_##machine##_EVENTS);	      \
	EXPECT(FL_##machine##_##to < FL_##machine##_STATES);		      \
	arcs++;
#define FNOTE(name, value, text) \
	EXPECT_EQ(FL_NOTE_##name, value);
#include "faultline/fsm.def"
	EXPECT_EQ(states, FL_TX_STATES + FL_RX_STATES);
	EXPECT_EQ(events, FL_TX_EVENTS + FL_RX_EVENTS);
	EXPECT_EQ(arcs, FL_TX_ARCS + FL_RX_ARCS);
}
