// SPDX-License-Identifier: BSD-2-Clause
/*
 * The SMMU's translation against a naive walker, written from chapter D8 of the Arm ARM
 * with plain arithmetic, which has no TLB and no walk cache: random tables that share pages
 * and form circles, two banks with their own registers, accesses in between. What software
 * changes, it invalidates as it must; from then on each access must go where the walker
 * goes, or fault as it does, with the syndrome that belongs to it.
 */
#include <string.h>

#include "fuzz.h"
#include "rig/smmu_bank.h"
#include "smmu/smmu.h"

const char fuzz_name[] = "smmu";

#define BASE	0x80000000ull	/* of the memory */
#define PAGES	16u		/* that hold tables */
#define BANKS	2u
#define STEPS	400u
#define SEEN	64u		/* pages that were accessed */
#define STREAM	0x200u

static uint64_t memory[PAGES * 512];

/* What was written to a bank's registers. */
struct bank {
	bool on, affd, epd0, va64;
	unsigned int t0sz, granule, pasize, asid;
	uint64_t table;
};

struct bench {
	struct smmu *s;
	struct bank bank[BANKS];
	struct smmu_utlb utlb[BANKS];
	uint64_t seen[SEEN];
	unsigned int seen_count;
	bool line;
};

/* ---- what the SMMU is given ---- */

static bool naive_read(uint64_t pa, uint64_t *v)
{
	if (pa < BASE || pa >= BASE + sizeof(memory))
		return false;
	*v = memory[(pa - BASE) / 8];
	return true;
}

static enum smmu_mem_status fuzz_smmu_read64(void *ctx, uint64_t pa,
					     uint64_t *value)
{
	(void)ctx;
	FUZZ_EXPECT(pa % 8 == 0, "descriptors are aligned: 0x%llx",
		    (unsigned long long)pa);
	return naive_read(pa, value) ? SMMU_MEM_OK : SMMU_MEM_ABORT;
}

static void fuzz_smmu_irq(void *ctx, bool level)
{
	struct bench *b = ctx;

	FUZZ_EXPECT(level != b->line, "the line is reported only when its level changes");
	b->line = level;
}

static void sync_start(void *ctx, unsigned int bank)
{
	(void)ctx;
	(void)bank;
}

static bool sync_done(void *ctx, unsigned int bank)
{
	(void)ctx;
	(void)bank;
	return true;
}

static void fuzz_smmu_resume(void *ctx, uint64_t ticket, enum smmu_verdict how)
{
	(void)ctx;
	(void)ticket;
	(void)how;
	FUZZ_EXPECT(false, "nothing was stalled");
}

static uint64_t frame_tag(void *ctx, uint64_t pa)
{
	(void)ctx;
	return pa >> 12;
}

/* ---- the walker ---- */

struct answer {
	uint32_t fault;		/* bit of FSR; 0: it goes to pa */
	unsigned int level;
	uint64_t pa;
};

static struct answer fuzz_smmu_no(uint32_t fault, unsigned int level)
{
	return (struct answer){ .fault = fault, .level = level };
}

static struct answer naive_walk(const struct bank *b, uint64_t va, bool write,
				bool privileged)
{
	static const unsigned int sizes[] = { 32, 36, 40, 42, 44, 48, 48, 48 };
	unsigned int bits = 64 - b->t0sz, level = 3, shift = 12;
	uint64_t most = (1ull << sizes[b->pasize]) - 1, table, d, size, out;
	bool no_user = false, read_only = false;

	if (!b->on)
		return (struct answer){ .pa = va };
	if (!b->va64 || b->epd0 || b->granule || b->t0sz < 16 ||
	    b->t0sz > 39 || va / (1ull << bits))
		return fuzz_smmu_no(SMMU_CB_FSR_TF, 0);
	for (; bits - shift > 9; shift += 9)
		level--;
	/* The first table has one entry for each value of the bits that are left. */
	size = 8ull << (bits - shift);
	table = b->table - b->table % (size < 64 ? 64 : size);
	if (table > most)
		return fuzz_smmu_no(SMMU_CB_FSR_ASF, 0);
	for (;; level++, shift -= 9) {
		if (!naive_read(table + va / (1ull << shift) % 512 * 8, &d))
			return fuzz_smmu_no(SMMU_CB_FSR_EF, level);
		if (d % 2 == 0 || (d % 4 == 1 && (level == 0 || level == 3)))
			return fuzz_smmu_no(SMMU_CB_FSR_TF, level);
		if (d % 4 == 1 || level == 3)
			break;
		table = d % (1ull << 48) / 4096 * 4096;
		if (table > most)
			return fuzz_smmu_no(SMMU_CB_FSR_ASF, level);
		no_user |= d >> 61 & 1;
		read_only |= d >> 62 & 1;
	}
	out = d % (1ull << 48) >> shift << shift;
	if (out + (1ull << shift) - 1 > most)
		return fuzz_smmu_no(SMMU_CB_FSR_ASF, level);
	if (!(d >> 10 & 1) && !b->affd)
		return fuzz_smmu_no(SMMU_CB_FSR_AFF, level);
	no_user |= !(d >> 6 & 1);
	read_only |= d >> 7 & 1;
	if ((write && read_only) || (!privileged && no_user))
		return fuzz_smmu_no(SMMU_CB_FSR_PF, level);
	return (struct answer){ .level = level, .pa = out + va % (1ull << shift) };
}

/* ---- steps ---- */

static void fuzz_smmu_wr(struct bench *b, uint32_t off, uint64_t v,
			 unsigned int size)
{
	FUZZ_EXPECT(!smmu_reg_write(b->s, off, size, v),
		    "register 0x%x can be written", off);
}

static uint64_t fuzz_smmu_rd(struct bench *b, uint32_t off, unsigned int size)
{
	uint64_t v;

	FUZZ_EXPECT(!smmu_reg_read(b->s, off, size, &v),
		    "register 0x%x can be read", off);
	return v;
}

/* All that may have become wrong, by one of the ways that there are. */
static void fuzz_smmu_invalidate(struct bench *b, unsigned int how)
{
	unsigned int n, i;

	for (n = 0; n < BANKS; n++) {
		if (how % 3 == 0)
			fuzz_smmu_wr(b, CB(n, TLBIALL), 0, 4);
		for (i = 0; how % 3 == 1 && i < b->seen_count; i++)
			fuzz_smmu_wr(b, CB(n, TLBIVA), b->seen[i] |
				     (uint64_t)b->bank[n].asid << 48, 8);
		fuzz_smmu_wr(b, CB(n, TLBSYNC), 0, 4);
	}
	if (how % 3 == 2)
		fuzz_smmu_wr(b, SMMU_GR0_BASE + SMMU_GR0_TLBIALLNSNH, 0, 4);
}

/* Entries of a table: few, so that accesses and changes meet. The first four are used. */
static const uint16_t index_of[] = { 0, 1, 2, 511, 64, 8, 4, 256 };

static uint64_t some_va(struct fuzz *f)
{
	unsigned int x = (unsigned int)fuzz_take(f, 1);
	uint64_t va = 0;
	int i;

	for (i = 0; i < 4; i++, x >>= 2)
		va = va << 9 | index_of[x & 3];
	return va << 12;
}

static uint64_t some_address(struct fuzz *f)
{
	unsigned int x = (unsigned int)fuzz_take(f, 1);

	if (x < 192)
		return BASE + x % PAGES * 4096;
	return 1ull << (x % 48) & ~0xfffull;
}

static void change_table(struct bench *b, struct fuzz *f)
{
	static const uint64_t bit[] = { 1, 2, 1 << 6, 1 << 7, 1 << 10, 1 << 11,
					1ull << 61, 1ull << 62 };
	unsigned int at = (unsigned int)fuzz_take(f, 1);
	unsigned int bits = (unsigned int)fuzz_take(f, 2);
	/* Mostly where tables begin, and an entry that is there already. */
	uint64_t *d = &memory[(at & 64 ? at % PAGES : at % 4) * 512 +
			      index_of[bits >> 8 & (at & 32 ? 7 : 3)]];

	if (at & 128) {
		*d ^= bit[bits & 7];
	} else {
		*d = some_address(f) | (bits & 3);
		*d |= (uint64_t)(bits >> 2 & 3) << 6;		/* AP */
		*d |= (uint64_t)!(bits >> 4 & 1) << 10;		/* AF */
		*d |= (uint64_t)(bits >> 5 & 1) << 11;		/* nG */
		*d |= (uint64_t)(bits >> 6 & 3) << 61;		/* APTable */
	}
	fuzz_smmu_invalidate(b, bits >> 11);
}

static void write_bank(struct bench *b, unsigned int n)
{
	const struct bank *k = &b->bank[n];

	fuzz_smmu_wr(b, SMMU_GR1_BASE + SMMU_GR1_CBA2R(n),
		     k->va64 ? SMMU_GR1_CBA2R_VA64 : 0, 4);
	fuzz_smmu_wr(b, CB(n, TTBR0), k->table | (uint64_t)k->asid << 48, 8);
	fuzz_smmu_wr(b, CB(n, TCR), k->t0sz | (k->epd0 ? SMMU_CB_TCR_EPD0 : 0) |
		     k->granule << SMMU_CB_TCR_TG0_SHIFT, 4);
	fuzz_smmu_wr(b, CB(n, TCR2), k->pasize << SMMU_CB_TCR2_PASIZE_SHIFT, 4);
	fuzz_smmu_wr(b, CB(n, SCTLR), (k->on ? SMMU_CB_SCTLR_M : 0) |
		     (k->affd ? SMMU_CB_SCTLR_AFFD : 0) | SMMU_CB_SCTLR_CFRE |
		     SMMU_CB_SCTLR_CFIE | SMMU_CB_SCTLR_HUPCF, 4);
	fuzz_smmu_wr(b, CB(n, TLBIALL), 0, 4);
}

static void change_bank(struct bench *b, struct fuzz *f)
{
	unsigned int n = fuzz_below(f, BANKS), x = (unsigned int)fuzz_take(f, 1);
	struct bank *k = &b->bank[n];

	k->on = x % 16 != 15;
	k->affd = x >> 4 & 1;
	k->epd0 = x >> 5 == 7;
	k->va64 = x >> 5 != 6;
	k->granule = x >> 5 == 5;
	x = (unsigned int)fuzz_take(f, 1);
	k->t0sz = x < 32 ? 16 : x < 64 ? 25 : x % 64;
	x = (unsigned int)fuzz_take(f, 1);
	k->pasize = x & 7;
	k->asid = x >> 3;
	k->table = some_address(f) | (uint64_t)(x & 0x10) << 4;
	write_bank(b, n);
}

static void judge_fault(struct bench *b, unsigned int n,
			const struct smmu_access *a, const struct answer *want)
{
	uint32_t fsr = (uint32_t)fuzz_smmu_rd(b, CB(n, FSR), 4);
	uint32_t syn = (uint32_t)fuzz_smmu_rd(b, CB(n, FSYNR0), 4);

	FUZZ_EXPECT((fsr & ~SMMU_CB_FSR_FORMAT_MASK) == want->fault,
		    "va 0x%llx: FSR is 0x%x, and 0x%x is right",
		    (unsigned long long)a->va, fsr, want->fault);
	FUZZ_EXPECT(fuzz_smmu_rd(b, CB(n, FAR), 8) == a->va,
		    "FAR is the address");
	FUZZ_EXPECT((syn & SMMU_CB_FSYNR0_PLVL_MASK) == want->level &&
		    !(syn & SMMU_CB_FSYNR0_WNR) == !a->write &&
		    !(syn & SMMU_CB_FSYNR0_PNU) == !a->privileged &&
		    !(syn & SMMU_CB_FSYNR0_PTWF) ==
			    (want->fault != SMMU_CB_FSR_EF),
		    "FSYNR0 is 0x%x, at level %u", syn, want->level);
	FUZZ_EXPECT(b->line, "the line is up");
	fuzz_smmu_wr(b, CB(n, FSR), fsr, 4);
	FUZZ_EXPECT(!b->line, "the line is down once FSR is clear");
}

static void access_one(struct bench *b, struct fuzz *f)
{
	unsigned int x = (unsigned int)fuzz_take(f, 1), n = x & 1;
	struct smmu_access a = {
		.stream = (uint16_t)(STREAM + n), .write = x >> 1 & 1,
		.privileged = x >> 2 & 1, .va = some_va(f),
		.utlb = x >> 3 & 1 ? &b->utlb[n] : NULL,
	};
	struct answer want;
	enum smmu_verdict got;

	a.va |= x >> 4 << 8;
	if (b->seen_count < SEEN)
		b->seen[b->seen_count++] = a.va >> 12;
	else
		return;
	want = naive_walk(&b->bank[n], a.va, a.write, a.privileged);
	got = smmu_translate(b->s, &a);
	FUZZ_EXPECT(got == (want.fault ? SMMU_FAULT : SMMU_OK),
		    "va 0x%llx: verdict %d, and the walker has fault 0x%x",
		    (unsigned long long)a.va, got, want.fault);
	if (want.fault)
		judge_fault(b, n, &a, &want);
	else
		FUZZ_EXPECT(a.pa == want.pa, "va 0x%llx goes to 0x%llx, and "
			    "not to 0x%llx", (unsigned long long)a.va,
			    (unsigned long long)want.pa,
			    (unsigned long long)a.pa);
}

/* Both banks begin with tables that map everything that is asked for. */
static void first_tables(struct bench *b)
{
	unsigned int i, k, n;

	for (i = 0; i < 4; i++)
		for (k = 0; k < sizeof(index_of) / sizeof(*index_of); k++)
			memory[i * 512 + index_of[k]] =
				i < 3 ? (BASE + (i + 1) * 4096) | 3 :
					0x40000443 + k * 4096;	/* AF, user */
	for (n = 0; n < BANKS; n++) {
		b->bank[n] = (struct bank){ .on = true, .va64 = true,
					    .t0sz = n ? 25 : 16, .pasize = 5,
					    .asid = n + 1,
					    .table = BASE + n * 4096 };
		write_bank(b, n);
	}
}

static void fuzz_smmu_start(struct bench *b, struct fuzz *f)
{
	unsigned int x = (unsigned int)fuzz_take(f, 1), n;
	struct smmu_config cfg = { .tlb_entries = 4u << (x & 3),
				   .walk_cache_entries = x & 4 ? 8 : 0 };
	struct smmu_env env = { b, fuzz_smmu_read64, fuzz_smmu_irq, sync_start,
		sync_done, fuzz_smmu_resume,
				frame_tag, NULL };

	memset(b, 0, sizeof(*b));
	memset(memory, 0, sizeof(memory));
	b->s = smmu_create(&cfg, &env);
	FUZZ_EXPECT(b->s, "there is memory for an SMMU");
	for (n = 0; n < BANKS; n++) {
		fuzz_smmu_wr(b, SMMU_GR0_BASE + SMMU_GR0_SMR(n),
			     (STREAM + n) | SMMU_GR0_SMR_VALID, 4);
		fuzz_smmu_wr(b, SMMU_GR0_BASE + SMMU_GR0_S2CR(n), n, 4);
		/* Entries that are global are of one VMID all the same. */
		fuzz_smmu_wr(b, SMMU_GR1_BASE + SMMU_GR1_CBAR(n),
			     1 << SMMU_GR1_CBAR_TYPE_SHIFT |
			     (n + 1) << SMMU_GR1_CBAR_VMID_SHIFT, 4);
	}
	fuzz_smmu_wr(b, SMMU_GR0_BASE + SMMU_GR0_CR0, SMMU_GR0_CR0_GFRE |
		     SMMU_GR0_CR0_GFIE | SMMU_GR0_CR0_USFCFG, 4);
	first_tables(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz f = { data, size };
	static struct bench b;
	unsigned int i, x;

	fuzz_smmu_start(&b, &f);
	for (i = 0; i < STEPS && f.left; i++) {
		x = (unsigned int)fuzz_take(&f, 1) & 7;
		if (x == 0)
			change_bank(&b, &f);
		else if (x < 4)
			change_table(&b, &f);
		else
			access_one(&b, &f);
	}
	FUZZ_EXPECT(!smmu_busy(b.s), "nothing is stalled");
	smmu_destroy(b.s);
	return 0;
}
