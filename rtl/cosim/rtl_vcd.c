// SPDX-License-Identifier: BSD-2-Clause
/* The last cycles at the pins, as a value change dump (IEEE 1364-2005, 18). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "rtl_internal.h"

static const struct pin {
	const char *name;
	unsigned int bits;
	bool out;
	size_t at;
} pins[] = {
#define IN(name, bits)		{ #name, bits, false, \
				  offsetof(struct model_in, name) },
#define IN_WIDE(name, bits)	IN(name, bits)
#define OUT(name, bits)		{ #name, bits, true, \
				  offsetof(struct model_out, name) },
#define OUT_WIDE(name, bits)	OUT(name, bits)
#include "pins.def"
};

#define PINS ((unsigned int)(sizeof(pins) / sizeof(pins[0])))

/* Two letters name a pin. */
static void say_id(FILE *f, unsigned int i)
{
	fprintf(f, "%c%c", 'a' + i / 26, 'a' + i % 26);
}

static void say_value(FILE *f, const struct pin *p, const uint8_t *v)
{
	unsigned int bit = p->bits;

	fputc('b', f);
	while (bit--)
		fputc('0' + (v[bit / 8] >> bit % 8 & 1), f);
	fputc(' ', f);
}

int rtl_dump(struct engine *e, const char *path)
{
	const struct rtl *x = rtl_of(e);
	uint64_t c = x->cycles > RING ? x->cycles - RING : 0, first = c;
	FILE *f = fopen(path, "w");
	unsigned int i;

	if (!f)
		return -errno;
	fprintf(f, "$timescale 1ns $end\n$scope module fl_engine $end\n");
	for (i = 0; i < PINS; i++) {
		fprintf(f, "$var wire %u ", pins[i].bits);
		say_id(f, i);
		fprintf(f, " %s $end\n", pins[i].name);
	}
	fprintf(f, "$upscope $end\n$enddefinitions $end\n");
	for (; c < x->cycles; c++) {
		fprintf(f, "#%llu\n", (unsigned long long)c);
		for (i = 0; i < PINS; i++) {
			const struct pin *p = &pins[i];
			size_t at = (p->out ? sizeof(x->ring[0].in) : 0) + p->at;
			const uint8_t *now = (const uint8_t *)
				&x->ring[c % RING] + at;
			const uint8_t *old = (const uint8_t *)
				&x->ring[(c - 1) % RING] + at;

			if (c != first && !memcmp(now, old, (p->bits + 7) / 8))
				continue;
			say_value(f, p, now);
			say_id(f, i);
			fputc('\n', f);
		}
	}
	return fclose(f) ? -errno : 0;
}
