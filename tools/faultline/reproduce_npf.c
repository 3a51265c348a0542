// SPDX-License-Identifier: BSD-2-Clause
/* reproduce_npf.c - network page faults on InfiniBand: what one costs, and what many do. */
#include <stdio.h>
#include <stdlib.h>

#include "tools/faultline/reproduce.h"

#define BEGIN							\
	"profile connectx\npolicy npf resolve=%s\n"		\
	"board a\nboard b\nlink a b\nprocess p on a\nprocess q on b\n"

/*
 * Time of a WRITE whose source has no page yet, or has them all in the card's table as its
 * destination has: `which` of the two is printed.
 */
static int npf_write(int pages, const char *resolve, const char *which, double *model)
{
	char text[900], key[40];

	snprintf(text, sizeof(text),
		 BEGIN "buffer warm in p %dK fill=random\nbuffer src in p %dK\n"
		 "buffer dst in q %dK warm\nregion warm\nregion src\nregion dst\n"
		 "connect p q as c\n"
		 "post first: write c warm -> dst\nwait first within=60s by=polling\n"
		 "post cold: write c src -> dst\nwait cold within=60s by=polling\n"
		 "post again: write c src -> dst\nwait again within=60s by=polling\n"
		 "expect status again ok\nexpect data dst = src\nprint time %s\n",
		 resolve, 4 * pages, 4 * pages, 4 * pages, which);
	snprintf(key, sizeof(key), "%s time_ns", which);
	return reproduce_print(text, key, model);
}

static int npf_cost(int pages, const char *resolve, double *model)
{
	double cold, again;

	if (npf_write(pages, resolve, "cold", &cold) ||
	    npf_write(pages, resolve, "again", &again))
		return 1;
	*model = cold - again;
	return 0;
}

int reproduce_npf(int pages, double *model)
{
	return npf_cost(pages, "transfer", model);
}

int reproduce_npf_singly(int pages, double *model)
{
	return npf_cost(pages, "page", model);
}

/* Messages of 64 KB, as many at a time as the card takes; packets of 2 KB (profile connectx). */
#define MESSAGES	32
#define PACKETS		(MESSAGES * 32)
/* The rarer they are, the less one more or fewer matters. */
#define FAULTS(k)	((k) < 10 ? 200 : (k) < 12 ? 60 : (k) < 14 ? 25 : (k) < 16 ? 12 : 6)

int reproduce_npf_rate(int k, double *model)
{
	unsigned int rounds = (FAULTS(k) << k) / PACKETS, i;
	char *text = NULL;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);
	int err = 1;

	if (!f)
		return 1;
	fprintf(f, BEGIN "buffer src in p 64K fill=random\nbuffer dst in q 64K warm\n"
		"region src\nregion dst\nconnect p q as c depth=%d\n"
		"post warm: write c src -> dst\nwait warm by=polling\n", "transfer",
		MESSAGES);
	if (k)
		fprintf(f, "faults b share=1/%u\n", 1u << k);
	fprintf(f, "repeat %u\n", k ? rounds : 8);
	for (i = 0; i < MESSAGES; i++)
		fprintf(f, "post %s%u: write c src -> dst\n", i < MESSAGES - 1 ? "w" : "z", i);
	/* All were posted before it, so its time is that of all. */
	fprintf(f, "wait all within=100s by=polling\nprint time z%d\nend\n"
		"expect data dst = src\n", MESSAGES - 1);
	if (!fclose(f))
		err = reproduce_print(text, "time_ns", model);
	free(text);
	*model = (k ? rounds : 8) * (MESSAGES * 65536.0 * 8) / *model;
	return err;
}
