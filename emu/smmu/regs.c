// SPDX-License-Identifier: BSD-2-Clause
/*
 * Register decode. The table comes from smmu.def: offsets, access types, reset
 * values; a register's writable bits are its fields (all of them when it lists
 * none). Reserved bits are zero, read-only fields keep their reset value.
 * What a write does beyond storing is the one switch in after_write().
 */
#include "smmu_internal.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum reg {
	REG_NONE,
#define SREG(page, name, ...) REG_##page##_##name,
#define SARR(page, name, ...) REG_##page##_##name,
#include "faultline/smmu.def"
	REG_COUNT
};

_Static_assert(REG_COUNT <= SMMU_REG_KINDS, "SMMU_REG_KINDS is too small");

enum page { PAGE_GR0, PAGE_GR1, PAGE_CB };
enum access { ACCESS_RO, ACCESS_RW, ACCESS_WO, ACCESS_W1C };

struct reg_info {
	uint8_t page, access, bits;
	uint16_t off, stride, count;
	uint64_t reset;
};

static const struct reg_info reg_info[REG_COUNT] = {
#define SREG(page, name, off, bits, access, reset, text)                      \
	[REG_##page##_##name] = { PAGE_##page, ACCESS_##access, bits,         \
				  off, bits / 8, 1, reset },
#define SARR(page, name, off, stride, count, bits, access, reset, text)       \
	[REG_##page##_##name] = { PAGE_##page, ACCESS_##access, bits,         \
				  off, stride, count, reset },
#include "faultline/smmu.def"
};

static const struct {
	uint8_t reg, lsb, width;
} fields[] = {
#define SFLD(page, name, field, lsb, width, text)                             \
	{ REG_##page##_##name, lsb, width },
#include "faultline/smmu.def"
};

/* Fields that the map has and that software cannot change. */
static const struct {
	uint8_t reg;
	uint32_t mask;
} read_only[] = {
	/* Intel HPS, SMMU_NSCR0: no stall override, no CAF, always an SMCF */
	{ REG_GR0_CR0, SMMU_GR0_CR0_STALLD | SMMU_GR0_CR0_GSE |
		       SMMU_GR0_CR0_GCFGFRE | SMMU_GR0_CR0_GCFGFIE |
		       SMMU_GR0_CR0_SMCFCFG },
	{ REG_GR0_CR0, SMMU_GR0_CR0_EXIDENABLE | SMMU_GR0_CR0_VMID16EN },
	/* Xilinx QEMU, hw/misc/arm-smmu.c, SMMU_NSGFSYNDR1 */
	{ REG_GR0_GFSYNR1, SMMU_GR0_GFSYNR1_SSD_INDEX_MASK },
	/* sources: smmu-ids: stream IDs have 15 bits; Linux probes for them */
	{ REG_GR0_SMR, 1u << 15 },
	{ REG_GR0_S2CR, SMMU_GR0_S2CR_EXIDVALID },
	/* UG1087 SMMU_CBAR9: all banks share one interrupt */
	{ REG_GR1_CBAR, SMMU_GR1_CBAR_IRPTNDX_MASK },
	/* Xilinx QEMU, SMMU_CBFRSYNRA0 */
	{ REG_GR1_CBFRSYNRA, SMMU_GR1_CBFRSYNRA_SSD_INDEX_MASK },
	{ REG_GR1_CBA2R, SMMU_GR1_CBA2R_VMID16_MASK },
	/* Xilinx QEMU, SMMU_CB0_SCTLR: ASIDPNE; E is not implemented */
	{ REG_CB_SCTLR, SMMU_CB_SCTLR_ASIDPNE | SMMU_CB_SCTLR_E },
	/* UG1087 SMMU_CB3_TCR2 */
	{ REG_CB_TCR2, SMMU_CB_TCR2_TBI0 | SMMU_CB_TCR2_TBI1 },
	/* Xilinx QEMU, SMMU_CB0_FSYNR0, SMMU_CB0_IPAFAR_LOW */
	{ REG_CB_FSYNR0, SMMU_CB_FSYNR0_ATOF },
	{ REG_CB_IPAFAR, 0xfff },
};

/* Banked by security state, so that they answer at +0x400 too. */
static const uint8_t aliased[] = {
	REG_GR0_CR0,	  REG_GR0_ACR,	      REG_GR0_GFAR,
	REG_GR0_GFSR,	  REG_GR0_GFSRRESTORE, REG_GR0_GFSYNR0,
	REG_GR0_GFSYNR1, REG_GR0_GFSYNR2,    REG_GR0_TLBGSYNC,
	REG_GR0_TLBGSTATUS,
};
#define ALIAS_OFFSET	0x400

/* One 32-bit word of a register. */
struct place {
	enum reg reg;
	unsigned int bank;	/* of a bank's page, or index in an array */
	bool upper;		/* bits 63:32 */
	uint32_t *word;
};

void smmu_regs_init(struct smmu *s)
{
	unsigned int i, r, w;

	for (r = REG_NONE + 1; r < REG_COUNT; r++) {
		const struct reg_info *in = &reg_info[r];

		for (i = 0; i < in->count; i++) {
			w = (in->off + i * in->stride) / 4;
			assert(in->bits != 64 || w % 2 == 0);
			s->reg_at[in->page][w] = (uint8_t)r;
			if (in->bits == 64)
				s->reg_at[in->page][w + 1] = (uint8_t)r;
		}
	}
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		s->reg_writable[fields[i].reg] |=
			((UINT64_C(1) << fields[i].width) - 1) << fields[i].lsb;
	for (r = REG_NONE + 1; r < REG_COUNT; r++)
		if (!s->reg_writable[r])
			s->reg_writable[r] = ~UINT64_C(0);
	for (i = 0; i < sizeof(read_only) / sizeof(read_only[0]); i++)
		s->reg_writable[read_only[i].reg] &=
			~(uint64_t)read_only[i].mask;
}

static uint32_t *page_words(struct smmu *s, enum page page, unsigned int n)
{
	switch (page) {
	case PAGE_GR0:
		return s->gr0;
	case PAGE_GR1:
		return s->gr1;
	default:
		return s->cb[n];
	}
}

void smmu_regs_reset(struct smmu *s)
{
	unsigned int r, i, n;

	memset(s->gr0, 0, sizeof(s->gr0));
	memset(s->gr1, 0, sizeof(s->gr1));
	memset(s->cb, 0, sizeof(s->cb));
	for (r = REG_NONE + 1; r < REG_COUNT; r++) {
		const struct reg_info *in = &reg_info[r];

		for (n = 0; n < (in->page == PAGE_CB ? SMMU_BANKS : 1u); n++) {
			uint32_t *words = page_words(s, in->page, n);

			for (i = 0; i < in->count; i++) {
				uint32_t *w;

				w = &words[(in->off + i * in->stride) / 4];
				w[0] = (uint32_t)in->reset;
				if (in->bits == 64)
					w[1] = (uint32_t)(in->reset >> 32);
			}
		}
	}
}

/* Offset in GR0 of the register that the alias at off stands for. */
static uint32_t gr0_unalias(const struct smmu *s, uint32_t off)
{
	unsigned int i;
	uint8_t reg;

	/* sources: smmu-regs: alias of several GR0 registers at +0x400 */
	if (off < ALIAS_OFFSET || off >= 2 * ALIAS_OFFSET)
		return off;
	reg = s->reg_at[PAGE_GR0][(off - ALIAS_OFFSET) / 4];
	for (i = 0; i < sizeof(aliased); i++)
		if (reg == aliased[i])
			return off - ALIAS_OFFSET;
	return off;
}

static struct place reg_locate(struct smmu *s, uint32_t off)
{
	struct place p = { .reg = REG_NONE };
	const struct reg_info *in;
	unsigned int page = off >> 12;
	enum page kind;

	off &= 0xfff;
	if (page == 0) {
		kind = PAGE_GR0;
		off = gr0_unalias(s, off);
	} else if (page == 1) {
		kind = PAGE_GR1;
	} else if (page >= 16) {
		kind = PAGE_CB;
		p.bank = page - 16;
	} else {
		return p;	/* pages for performance counters and so on */
	}
	p.reg = s->reg_at[kind][off / 4];
	if (p.reg == REG_NONE)
		return p;
	in = &reg_info[p.reg];
	p.word = &page_words(s, kind, p.bank)[off / 4];
	p.upper = in->bits == 64 && off & 4;
	if (kind != PAGE_CB)
		p.bank = (off - in->off) / in->stride;
	return p;
}

static void sync_start(struct smmu *s, unsigned int bank)
{
	s->sync_active[bank] = true;
	s->sync_number[bank]++;
	s->stats.syncs++;
	smmu_emit(s, EV_SMMU_SYNC, NULL, 0, bank, 0, 0, 0);
	s->env.sync_start(s->env.ctx, bank);
}

/*
 * Read of a status register: ask the board, without the lock, since it may
 * block. A synchronise that was started meanwhile is not answered by that.
 */
static uint32_t sync_status(struct smmu *s, unsigned int bank)
{
	uint32_t number = s->sync_number[bank];
	bool done;

	if (!s->sync_active[bank])
		return 0;
	smmu_leave(s);
	done = s->env.sync_done(s->env.ctx, bank);
	smmu_enter(s);
	if (done && s->sync_active[bank] && s->sync_number[bank] == number) {
		s->sync_active[bank] = false;
		smmu_emit(s, EV_SMMU_SYNC_DONE, NULL, 0, bank, 0, 0, 0);
	}
	return s->sync_active[bank];
}

/* sources: smmu-regs: TLBIVA takes VA >> 12 in 43:0 and the ASID in 63:48. */
static void tlbi_bank(struct smmu *s, unsigned int n, enum smmu_tlbi_op op,
		      uint64_t value)
{
	const struct smmu_bank *b = &s->bank[n];
	uint64_t va = (value & SMMU_CB_TLBIVA_VPN_MASK) << 12;
	uint16_t asid = SMMU_FIELD(value, SMMU_CB_TLBIVA_ASID) & b->asid_mask;

	switch (op) {
	case SMMU_TLBI_VA:
		smmu_walk_cache_drop(&s->walk_cache, &va, &b->vmid, &asid);
		smmu_tlb_drop_va(&s->tlb, va, b->vmid, asid);
		break;
	case SMMU_TLBI_VAL:
		smmu_tlb_drop_va(&s->tlb, va, b->vmid, asid);
		break;
	case SMMU_TLBI_VAA:
	case SMMU_TLBI_VAAL:
		asid = 0;
		if (op == SMMU_TLBI_VAA)
			smmu_walk_cache_drop(&s->walk_cache, &va, &b->vmid,
					     NULL);
		smmu_tlb_drop_va_any(&s->tlb, va, b->vmid);
		break;
	case SMMU_TLBI_ASID:
		va = 0;
		asid = value & b->asid_mask;
		smmu_walk_cache_drop(&s->walk_cache, NULL, &b->vmid, &asid);
		smmu_tlb_drop_asid(&s->tlb, b->vmid, asid);
		break;
	default:
		assert(op == SMMU_TLBI_ALL);
		va = 0;
		asid = 0;
		smmu_walk_cache_drop(&s->walk_cache, NULL, &b->vmid, NULL);
		smmu_tlb_drop_vmid(&s->tlb, b->vmid);
		break;
	}
	s->stats.invalidations++;
	smmu_emit(s, EV_SMMU_TLBI, NULL, 0, n, va, asid, op);
}

static void tlbi_global(struct smmu *s, enum smmu_tlbi_op op, uint32_t value)
{
	uint8_t vmid = value & 0xff;

	if (op == SMMU_TLBI_VMID) {
		smmu_walk_cache_drop(&s->walk_cache, NULL, &vmid, NULL);
		smmu_tlb_drop_vmid(&s->tlb, vmid);
	} else if (op == SMMU_TLBI_ALLNSNH) {
		smmu_walk_cache_drop(&s->walk_cache, NULL, NULL, NULL);
		smmu_tlb_drop_all(&s->tlb);
	}
	s->stats.invalidations++;
	smmu_emit(s, EV_SMMU_TLBI, NULL, 0, SMMU_ALL_BANKS, 0, 0, op);
}

/* What a write to a global register does; false: not a global register. */
static bool after_global(struct smmu *s, const struct place *p, uint32_t value)
{
	switch (p->reg) {
	case REG_GR0_CR0:
	case REG_GR0_SMR:
	case REG_GR0_S2CR:
		smmu_stream_forget(s);
		break;
	case REG_GR1_CBAR:
	case REG_GR1_CBA2R:
		smmu_stream_forget(s);
		smmu_bank_decode(s, p->bank);
		break;
	case REG_GR0_GFSRRESTORE:
		*smmu_gr0(s, SMMU_GR0_GFSR) |=
			value & s->reg_writable[REG_GR0_GFSR];
		break;
	case REG_GR0_TLBIVMID:
		tlbi_global(s, SMMU_TLBI_VMID, value);
		return true;
	case REG_GR0_STLBIALL:
	case REG_GR0_TLBIALLNSNH:
		tlbi_global(s, SMMU_TLBI_ALLNSNH, value);
		return true;
	case REG_GR0_TLBIALLH:
		tlbi_global(s, SMMU_TLBI_ALLH, value);
		return true;
	case REG_GR0_TLBGSYNC:
		sync_start(s, SMMU_ALL_BANKS);
		return true;
	default:
		if (reg_info[p->reg].page == PAGE_CB)
			return false;
		break;
	}
	smmu_irq_update(s);
	return true;
}

/* What a write to a register of a bank does beyond storing the value. */
static void after_write(struct smmu *s, const struct place *p, uint32_t value)
{
	unsigned int n = p->bank;

	if (after_global(s, p, value))
		return;
	switch (p->reg) {
	case REG_CB_SCTLR:
	case REG_CB_TCR:
	case REG_CB_TCR2:
	case REG_CB_TTBR0:
	case REG_CB_TTBR1:
		smmu_bank_decode(s, n);
		smmu_irq_update(s);
		break;
	case REG_CB_RESUME:
		smmu_bank_resume(s, n, value);
		break;
	case REG_CB_FSRRESTORE:
		smmu_bank_restore_fsr(s, n, value);
		break;
	case REG_CB_TLBIVA:
		tlbi_bank(s, n, SMMU_TLBI_VA, smmu_get64(p->word));
		break;
	case REG_CB_TLBIVAL:
		tlbi_bank(s, n, SMMU_TLBI_VAL, smmu_get64(p->word));
		break;
	case REG_CB_TLBIVAA:
		tlbi_bank(s, n, SMMU_TLBI_VAA, smmu_get64(p->word));
		break;
	case REG_CB_TLBIVAAL:
		tlbi_bank(s, n, SMMU_TLBI_VAAL, smmu_get64(p->word));
		break;
	case REG_CB_TLBIASID:
		tlbi_bank(s, n, SMMU_TLBI_ASID, value);
		break;
	case REG_CB_TLBIALL:
		tlbi_bank(s, n, SMMU_TLBI_ALL, value);
		break;
	case REG_CB_TLBSYNC:
		sync_start(s, n);
		break;
	default:
		break;	/* ATS1PR is absent (ID0.ATOSNS), TLBIIPAS2 useless */
	}
}

static void reg_write32(struct smmu *s, uint32_t off, uint32_t value)
{
	struct place p = reg_locate(s, off);
	uint32_t mask, reset;

	if (p.reg == REG_NONE)
		return;
	/* sources: smmu-regs, sACR.CACHE_LOCK: ACTLR of every bank is locked */
	if (p.reg == REG_CB_ACTLR &&
	    *smmu_gr0(s, SMMU_GR0_ACR) & SMMU_GR0_ACR_CACHE_LOCK)
		return;
	mask = (uint32_t)(s->reg_writable[p.reg] >> (p.upper ? 32 : 0));
	reset = (uint32_t)(reg_info[p.reg].reset >> (p.upper ? 32 : 0));
	switch ((enum access)reg_info[p.reg].access) {
	case ACCESS_RO:
		return;
	case ACCESS_W1C:
		if (p.reg == REG_CB_FSR) {
			smmu_bank_write_fsr(s, p.bank, value);
			return;
		}
		*p.word &= ~(value & mask);
		break;
	case ACCESS_RW:
	case ACCESS_WO:
		*p.word = (value & mask) | (reset & ~mask);
		break;
	}
	/* The upper half waits for the lower one, which starts it all. */
	if (p.upper && reg_info[p.reg].access == ACCESS_WO)
		return;
	after_write(s, &p, value);
}

/* A register of 64 bits as a whole. False: it is none that simply takes a value. */
static bool reg_write64(struct smmu *s, uint32_t off, uint64_t value)
{
	struct place p = reg_locate(s, off);
	const struct reg_info *in = &reg_info[p.reg];
	uint64_t mask = s->reg_writable[p.reg];

	if (in->bits != 64 || (in->access != ACCESS_WO && in->access != ACCESS_RW))
		return false;
	value = (value & mask) | (in->reset & ~mask);
	p.word[0] = (uint32_t)value;
	p.word[1] = (uint32_t)(value >> 32);
	after_write(s, &p, p.word[0]);
	return true;
}

static uint32_t reg_read32(struct smmu *s, uint32_t off)
{
	struct place p = reg_locate(s, off);

	if (p.reg == REG_NONE || reg_info[p.reg].access == ACCESS_WO)
		return 0;
	if (p.reg == REG_CB_TLBSTATUS)
		return sync_status(s, p.bank);
	if (p.reg == REG_GR0_TLBGSTATUS)
		return sync_status(s, SMMU_ALL_BANKS);
	return *p.word;
}

static bool reg_is_reachable(uint32_t off, unsigned int size)
{
	return (size == 4 || size == 8) && !(off & (size - 1)) &&
	       off < SMMU_REG_BYTES;
}

int smmu_reg_read(struct smmu *s, uint32_t off, unsigned int size,
		  uint64_t *value)
{
	*value = 0;
	if (!reg_is_reachable(off, size))
		return -EINVAL;
	smmu_enter(s);
	*value = reg_read32(s, off);
	if (size == 8)
		*value |= (uint64_t)reg_read32(s, off + 4) << 32;
	smmu_leave(s);
	return 0;
}

int smmu_reg_write(struct smmu *s, uint32_t off, unsigned int size,
		   uint64_t value)
{
	if (!reg_is_reachable(off, size))
		return -EINVAL;
	smmu_enter(s);
	if (size == 4 || !reg_write64(s, off, value)) {
		/* Upper half first: the lower one may start something. */
		if (size == 8)
			reg_write32(s, off + 4, (uint32_t)(value >> 32));
		reg_write32(s, off, (uint32_t)value);
	}
	smmu_leave_changed(s);
	return 0;
}
