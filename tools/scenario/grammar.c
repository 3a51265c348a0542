// SPDX-License-Identifier: BSD-2-Clause
#include "tools/scenario/grammar.h"

#include <assert.h>
#include <string.h>

#include "faultline/system.h"

#define COUNTERS                                                              \
	"{faults|faults_source|faults_destination|pages_in|resolves|failed|"  \
	"spurious|invalidations|pinned_pages|stalls|loaded|zapped|raced|"     \
	"advised|cache_hits|"                                                 \
	"cache_misses|cache_evictions|cache_dropped|cache_bytes|"             \
	"cache_most_bytes}"
#define STATS                                                                 \
	"{blocks_sent|blocks_resent|blocks_landed|blocks_refused|stale|"      \
	"duplicates|no_context|waits|bad_packets|bad_registers|wire_bytes|"   \
	"wire_packets|wire_lost|refused_key|refused_range|refused_rights|"    \
	"refused_qp|page_ins|evictions|swap_ins|swap_outs|"                   \
	"cpu_faults|frames_free|frames_pinned|faults_minor|faults_major|"      \
	"pages_brought|pages_unused|pinned_peak|resident_peak|"         \
	"packets_sent|packets_resent|rnr_sent|rnr_waits|timeouts|rewinds|"     \
	"packets_dropped|packets_doubled|overflows|misses_reported|"           \
	"misses_suppressed|"                                                   \
	"redirected|copies|credit_waits|order_waits|slots_used|slots_peak|"    \
	"fragments_sent|fragments_resent}"

const struct rule rules[] = {
	{ V_PROFILE, "profile", NULL, "any", "",
	  "timing profile: a name, or a file in quotes; before the first board"
	  },
	{ V_SET, "set", NULL, "word '= any", "",
	  "one value of the profile, or jitter=TIME; before the first board" },
	{ V_SYSTEM, "system", NULL, "new:system",
	  "like=system tables={" FL_TABLES_WORDS "} before={" FL_BEFORE_WORDS
	  "} transport={" FL_TRANSPORT_WORDS "} ir={" FL_VERDICT_WORDS
	  "} iw={" FL_VERDICT_WORDS "} rr={" FL_VERDICT_WORDS
	  "} rw={" FL_VERDICT_WORDS "} tells={" FL_TELLS_WORDS "}",
	  "a system of one's own: like another one, but for these columns" },
	{ V_POLICY, "policy", NULL, "system",
	  "resolve=plan cache=size hook={yes|no} verify={yes|no} quirk=quirks "
	  "slots=count bm=count",
	  "how processes that are declared later handle device faults" },
	{ V_BOARD, "board", NULL, "new:board",
	  "frames=count swap=count contexts=count receive=count block=size "
	  "tlb=count walkcache=count",
	  "a board with its kernel and driver" },
	{ V_LINK, "link", NULL, "board board", "",
	  "a link in both directions" },
	{ V_PROCESS, "process", NULL, "new:process 'on board", "",
	  "a process that opens the card" },
	{ V_BUFFER, "buffer", NULL, "new:buffer 'in process size?",
	  "fill={zero|random|pattern} seed=count file=string cold warm evicted",
	  "memory of a process; cold unless it is filled" },
	{ V_REGION, "region", NULL, "buffer range?",
	  "rights=rights pinned domain=count",
	  "register the buffer, or a part of it, with the card" },
	{ V_CONNECT, "connect", NULL, "process process 'as new:connection",
	  "depth=count domain=count order={posted|relaxed} mtu=size "
	  "timeout=count retry=count rnr=count rnr_retry=count reads=count "
	  "psn=count inline=size datagrams",
	  "a queue pair on each side, connected; a process may be its own peer"
	  },
	{ V_INJECT, "inject", NULL, "board '-> board",
	  "loss=share duplicate=share damage=share late=time share=share off",
	  "what the way from one board to the other does to packets from now "
	  "on" },
	{ V_DROP, "drop", NULL, "board '-> board 'first count packet?", "",
	  "lose the first packets (of one kind) from now on" },
	{ V_EVICT, "evict", NULL, "buffer range?", "",
	  "take pages away; their contents go to swap" },
	{ V_FORGET, "forget", NULL, "buffer range?", "",
	  "drop pages and their contents; zeros (or the file) come next time" },
	{ V_PREFETCH, "prefetch", NULL, "buffer {read|write} range?", "",
	  "page in through the driver, ahead of a transfer" },
	{ V_TOUCH, "touch", NULL, "buffer {read|write} range?", "",
	  "the CPU reads or writes one byte of each page" },
	{ V_PROTECT, "protect", NULL, "buffer {none|read|write} range?", "",
	  "change the rights of pages (write: reading too)" },
	{ V_UNMAP, "unmap", NULL, "buffer range?", "",
	  "give addresses back to the kernel" },
	{ V_REMAP, "remap", NULL, "buffer range?", "",
	  "unmap, and map zeros at the same addresses, in one step" },
	{ V_DEREGISTER, "deregister", NULL, "buffer", "",
	  "take the buffer's region away from the card" },
	{ V_DMA, "dma", NULL, "buffer '-> buffer size?", "from=size at=size",
	  "copy within a process by the DMA engine of the processing system"
	  },
	{ V_RESUME, "resume", NULL, "connection of/process?", "",
	  "its first process, or this one, may send again after fault-fast" },
	{ V_COUNTER, "counter", NULL, "new:counter 'in process", "",
	  "an event counter, which writes to the process may name (policy netvm)" },
	{ V_AWAIT, "await", NULL, "counter op count",
	  "by={busy|sleep|handler|queue|semaphore|queue-busy|semaphore-busy} "
	  "within=time",
	  "until it has risen so far: >=, > or ==" },
	{ V_POST, "post", NULL,
	  "new:work ': {write|read} connection buffer {->|<-} buffer size?",
	  "from=size at=size lkey=key rkey=key local=count remote=count "
	  "fence imm=count solicited inline notify=counter",
	  "one work request: write C LOCAL -> REMOTE, read C LOCAL <- REMOTE" },
	{ V_SEND, "send", NULL, "new:work ': connection buffer size?",
	  "from=size lkey=key imm=count fence solicited inline",
	  "a message, to the oldest receive that the peer has posted" },
	{ V_RECEIVE, "receive", NULL, "new:work ': connection buffer size?",
	  "at=size lkey=key n=count",
	  "a place for a message; n: so many of them, one behind the other" },
	{ V_ATOMIC, "atomic", NULL,
	  "new:work ': {add|swap} connection buffer '<- buffer",
	  "from=size at=size lkey=key rkey=key value=count compare=count fence",
	  "8 bytes of the remote: LOCAL gets what was there, value is added, or "
	  "written if compare was there" },
	{ V_WAIT, "wait", NULL, "works", "within=time "
	"by={both|polling|sleeping}",
	  "until these work requests, or all, are complete" },
	{ V_SLEEP, "sleep", NULL, "time", "", "let time pass" },
	{ V_STARVE, "starve", NULL, "board count", "",
	  "the next frame allocations of this board fail" },
	{ V_FAULTS, "faults", NULL, "board",
	  "share=fraction kind={minor|major} off",
	  "of packets whose pages are there: so many are missed all the same"
	  },
	{ V_EXIT, "exit", NULL, "process", "",
	  "the process ends, with whatever it has in flight" },
	{ V_NOTE, "note", NULL, "word count? count?", "",
	  "a mark in trace and transcript" },
	{ V_POKE, "poke", NULL, "board {nic|smmu} count '= count",
	  "width={32|64}",
	  "write a device register: offset in its window, value" },
	{ V_REPEAT, "repeat", NULL, "count", "",
	  "do what stands before the matching end this many times" },
	{ V_END, "end", NULL, "", "", "end of repeat" },
	{ V_EXPECT_STATUS, "expect", "status", "work {not}? status", "",
	  "how a work request ended: a status, or the error of its post" },
	{ V_EXPECT_DATA, "expect", "data", "buffer range? '= content range?",
	  "seed=count", "contents: another buffer, zero, random or pattern" },
	{ V_EXPECT_COUNT, "expect", "count",
	  "event on/board? of/work? op count", "",
	  "how often an event was traced" },
	{ V_EXPECT_COUNTER, "expect", "counter", "process " COUNTERS " op "
	"count",
	  "", "a counter that the driver keeps for a process" },
	{ V_EXPECT_STAT, "expect", "stat", "board " STATS " op count", "",
	  "a counter of a board's card, wire or kernel" },
	{ V_EXPECT_TIME, "expect", "time", "work op time", "",
	  "from post to completion; checked in lockstep only" },
	{ V_EXPECT_RESENDS, "expect", "resends", "work op count", "",
	  "blocks that were sent more than once" },
	{ V_EXPECT_BYTES, "expect", "bytes", "work op size", "",
	  "bytes that the completion tells" },
	{ V_EXPECT_IMM, "expect", "imm", "work op count", "",
	  "immediate data that came with a message" },
	{ V_EXPECT_NUMBER, "expect", "number", "buffer range? op count", "",
	  "the first 8 bytes there, as a number (little-endian)" },
	{ V_EXPECT_RESIDENT, "expect", "resident", "buffer range?", "",
	  "every page of it is there" },
	{ V_EXPECT_ABSENT, "expect", "absent", "buffer range?", "",
	  "no page of it is there" },
	{ V_PRINT_TIME, "print", "time", "work", "", "post to completion" },
	{ V_PRINT_ARRIVAL, "print", "arrival", "work", "",
	  "post to the last byte in memory; in lockstep" },
	{ V_PRINT_RATE, "print", "rate", "work", "", "bytes over time" },
	{ V_PRINT_COUNT, "print", "count", "event on/board? of/work?", "",
	  "how often an event was traced" },
	{ V_PRINT_COUNTER, "print", "counter", "process " COUNTERS, "",
	  "a counter of the driver" },
	{ V_PRINT_STAT, "print", "stat", "board " STATS, "",
	  "a counter of a board" },
	{ V_PRINT_NOTICED, "print", "noticed", "work counter", "",
	  "post to the end of the last await of the counter" },
	{ 0, NULL, NULL, NULL, NULL, NULL },
};

bool rule_next(const char **p, char word[RULE_WORD_MAX])
{
	size_t n;

	*p += strspn(*p, " ");
	n = strcspn(*p, " ");
	assert(n < RULE_WORD_MAX);
	if (!n)
		return false;
	memcpy(word, *p, n);
	word[n] = 0;
	*p += n;
	return true;
}

static void grammar_append(char *text, size_t bytes, const char *more,
			   bool upper)
{
	size_t n = strlen(text);

	for (; *more && n + 1 < bytes; more++)
		text[n++] = upper && *more >= 'a' && *more <= 'z' ?
				    (char)(*more - 'a' + 'A') : *more;
	text[n] = 0;
}

/* One type: literals as they stand, values in capitals. */
static void append_type(char *text, size_t bytes, const char *word)
{
	const char *slash = strchr(word, '/');

	if (*word == '\'') {
		grammar_append(text, bytes, word + 1, false);
	} else if (*word == '{') {
		/* {a|b} -> a|b; long lists are left to the book */
		if (strlen(word) > 60)
			grammar_append(text, bytes, "NAME", false);
		else
			grammar_append(text, bytes, word, false);
	} else if (slash) {
		while (word < slash) {
			char one[2] = { *word++, 0 };

			grammar_append(text, bytes, one, false);
		}
		grammar_append(text, bytes, " ", false);
		grammar_append(text, bytes, slash + 1, true);
	} else {
		grammar_append(text, bytes,
			       strncmp(word, "new:", 4) ? word : "NAME", true);
	}
}

void rule_usage(const struct rule *r, char *text, size_t bytes)
{
	const char *p = r->words;
	char word[RULE_WORD_MAX], *eq;
	size_t n;

	text[0] = 0;
	grammar_append(text, bytes, r->first, false);
	if (r->second) {
		grammar_append(text, bytes, " ", false);
		grammar_append(text, bytes, r->second, false);
	}
	while (rule_next(&p, word)) {
		n = strlen(word);
		grammar_append(text, bytes, " ", false);
		if (word[n - 1] == '?') {
			word[n - 1] = 0;
			grammar_append(text, bytes, "[", false);
			append_type(text, bytes, word);
			grammar_append(text, bytes, "]", false);
		} else {
			append_type(text, bytes, word);
		}
	}
	for (p = r->options; rule_next(&p, word);) {
		grammar_append(text, bytes, " [", false);
		eq = strchr(word, '=');
		if (eq) {
			*eq = 0;
			grammar_append(text, bytes, word, false);
			grammar_append(text, bytes, "=", false);
			append_type(text, bytes, eq + 1);
		} else {
			grammar_append(text, bytes, word, false);
		}
		grammar_append(text, bytes, "]", false);
	}
}

void scenario_language(FILE *f)
{
	const struct rule *r;
	char text[3 * RULE_WORD_MAX];

	for (r = rules; r->first; r++) {
		rule_usage(r, text, sizeof(text));
		fprintf(f, "%s\n\t%s\n", text, r->text);
		if (strlen(r->words) > 100)
			fprintf(f, "\tNAME is one of %s\n",
				strchr(r->words, '{'));
	}
	fputs("Each line may end with: fails ERROR (like EINVAL).\n", f);
}
