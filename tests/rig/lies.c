// SPDX-License-Identifier: BSD-2-Clause
#include "rig/lies.h"

#define LIES	8u

static struct lie {
	uint64_t pa;
	uint32_t mask, value;
} lie[LIES];
static unsigned int lies, told;

int __real_board_read(struct board *b, uint64_t pa, unsigned int size, uint64_t *value);
int __wrap_board_read(struct board *b, uint64_t pa, unsigned int size, uint64_t *value);

int __wrap_board_read(struct board *b, uint64_t pa, unsigned int size, uint64_t *value)
{
	int ret = __real_board_read(b, pa, size, value);
	unsigned int i;

	for (i = 0; i < lies; i++) {
		if (lie[i].pa != pa)
			continue;
		*value = (*value & ~(uint64_t)lie[i].mask) | (lie[i].value & lie[i].mask);
		told++;
	}
	return ret;
}

void lie_tell(uint64_t pa, uint32_t mask, uint32_t value)
{
	EXPECT(lies < LIES);
	lie[lies++] = (struct lie){ pa, mask, value };
}

unsigned int lies_told(void)
{
	return told;
}

void lies_end(void)
{
	lies = 0;
	told = 0;
}
