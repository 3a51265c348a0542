// SPDX-License-Identifier: BSD-2-Clause
/* The scenario language: what is read, and what each mistake is answered with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "tools/scenario/ast.h"
#include "tools/scenario/lexer.h"
#include "tools/scenario/words.h"
#include "faultline/entries.h"
#include "nic/wire.h"
#include "trace/trace.h"

#define SETUP                                                          \
	"board a\nboard b\nlink a b\nprocess p on a\nprocess q on b\n" \
	"buffer src in p 64K\nbuffer dst in q 64K\nconnect p q as c\n"

static char said[8192];

static void free_it(void *s)
{
	scenario_free(s);
}

static struct scenario *parse_fl(const char *text)
{
	FILE *f = fmemopen(said, sizeof(said), "w");
	struct scenario *s;

	memset(said, 0, sizeof(said));
	STEP("read: %s", text);
	s = scenario_parse("x.fl", text, f);
	fclose(f);
	STEP("said: %s", said);
	if (s)
		test_cleanup(free_it, s);
	return s;
}

/* The text is refused, and the message holds each of these. */
static void wrong_at(const char *text, const char *where, const char *right)
{
	EXPECT(parse_fl(text) == NULL);
	test_expect(!strncmp(said, where, strlen(where)), __FILE__, __LINE__,
		    "the message begins with %s: %s", where, said);
	test_expect(strstr(said, right) != NULL, __FILE__, __LINE__,
		    "the message says '%s': %s", right, said);
}

TEST("a line is cut into words, numbers, strings and signs with their columns")
{
	struct line_tokens t;
	const char *problem;
	int column;

	EXPECT_EQ(line_lex("  drop a->b x=\"f g\" 1.5us # end", &t, &column,
			   &problem), 0);
	EXPECT_EQ(t.count, 8);
	EXPECT_EQ(t.tok[0].column, 3);
	EXPECT_STR(t.tok[1].text, "a");
	EXPECT_EQ(t.tok[2].kind, TOK_SIGN);
	EXPECT_STR(t.tok[2].text, "->");
	EXPECT_STR(t.tok[3].text, "b");
	EXPECT_EQ(t.tok[6].kind, TOK_STRING);
	EXPECT_STR(t.tok[6].text, "f g");
	EXPECT_EQ(t.tok[7].kind, TOK_NUMBER);
	EXPECT_EQ(t.tok[8].kind, TOK_END);
}

TEST("a name with a minus is one word, an arrow is none")
{
	struct line_tokens t;
	const char *problem;
	int column;

	EXPECT_EQ(line_lex("local-write a-b->c", &t, &column, &problem), 0);
	EXPECT_EQ(t.count, 4);
	EXPECT_STR(t.tok[0].text, "local-write");
	EXPECT_STR(t.tok[1].text, "a-b");
}

TEST("sizes have K, M, G and may add or take away bytes")
{
	uint64_t v;

	EXPECT(!word_size("64K", &v) && v == 65536);
	EXPECT(!word_size("64K+1", &v) && v == 65537);
	EXPECT(!word_size("1M-1", &v) && v == 1048575);
	EXPECT(!word_size("2GB", &v) && v == 2147483648u);
	EXPECT(!word_size("0", &v) && v == 0);
	EXPECT(word_size("64Q", &v) != NULL);
	EXPECT(word_size("1-2", &v) != NULL);
	EXPECT(word_size("", &v) != NULL);
	EXPECT(word_size("99999999999999999999", &v) != NULL);
	EXPECT(word_size("99999999999G", &v) != NULL);
}

TEST("times have a unit and may have a fraction")
{
	uint64_t v;

	EXPECT(!word_time("1.5us", &v) && v == 1500);
	EXPECT(!word_time("20ns", &v) && v == 20);
	EXPECT(!word_time("3ms", &v) && v == 3000000);
	EXPECT(!word_time("1s", &v) && v == 1000000000);
	EXPECT(word_time("5", &v) != NULL);
	EXPECT(word_time("5K", &v) != NULL);
	EXPECT(word_time("us", &v) != NULL);
}

TEST("shares are percent or ppm, at most all packets")
{
	uint64_t v;

	EXPECT(!word_share("1%", &v) && v == 10000);
	EXPECT(!word_share("0.5%", &v) && v == 5000);
	EXPECT(!word_share("20ppm", &v) && v == 20);
	EXPECT(!word_share("100%", &v) && v == 1000000);
	EXPECT(word_share("101%", &v) != NULL);
	EXPECT(word_share("5", &v) != NULL);
}

TEST("ranges have a beginning and an end after it, or none")
{
	uint64_t a, b;

	EXPECT(!word_range("0..16K", &a, &b) && !a && b == 16384);
	EXPECT(!word_range("4K..", &a, &b) && a == 4096 && !b);
	EXPECT(word_range("8K..4K", &a, &b) != NULL);
	EXPECT(word_range("4K", &a, &b) != NULL);
	EXPECT(word_range("..4K", &a, &b) != NULL);
}

TEST("every status of the card has a name here and back")
{
	int i;

	EXPECT_EQ(word_status("remote-access"), FL_ST_REMOTE_ACCESS);
	for (i = 0; word_status_list[i]; i++)
		EXPECT_STR(word_status_name(word_status(word_status_list[i])),
			   word_status_list[i]);
	EXPECT_EQ(word_status("remote_range"), -1);
	EXPECT_EQ(word_status("okay"), -1);
}

TEST("the example of the book is read whole")
{
	struct scenario *s = parse_fl(
		"profile qfdb\nset link.mbps=16000\n"
		"policy part resolve=block\n" SETUP
		"region src rights=local-write,remote-read pinned\n"
		"region dst\n"
		"inject a->b loss=1% duplicate=2% late=5us share=3%\n"
		"drop a->b first 2 READY\nevict dst 0..16K\n"
		"post w1: write c src -> dst 64K at=0\n"
		"post r1: read c src <- dst 64K\nwait w1\nwait w1 r1\n"
		"wait all within=5ms\nsleep 10us\ntouch dst write 0..4K\n"
		"protect dst read\nunmap dst\nexpect status w1 ok\n"
		"expect data dst = src\nexpect count MM_FAULT on b == 4\n"
		"expect time w1 < 50us\nrepeat 3\nsleep 1us\nend\n"
		"region dst fails EINVAL\n");

	EXPECT(s != NULL);
	EXPECT_EQ(s->names[NAME_BOARD], 2);
	EXPECT_EQ(s->names[NAME_WORK], 2);
	EXPECT_EQ(s->st[s->count - 1].fails, word_errno("EINVAL"));
	EXPECT_STR(said, "");
}

TEST("a statement keeps its words where the grammar has them")
{
	struct scenario *s = parse_fl(SETUP
		"drop a -> b first 7 READY\nregion src\nregion dst\n"
		"post w: write c src -> dst at=4K\n");
	const struct statement *st;

	EXPECT(s != NULL);
	st = &s->st[s->count - 4];
	EXPECT_EQ(st->verb, V_DROP);
	EXPECT_EQ(st->arg[0].name, 0);
	EXPECT_EQ(st->arg[2].name, 1);
	EXPECT_EQ(st->arg[4].number, 7);
	EXPECT_EQ(st->arg[5].choice, WOP_READY);
	st = &s->st[s->count - 1];
	EXPECT(!st->arg[7].set);
	EXPECT(statement_option(st, "at") != NULL);
	EXPECT_EQ(statement_option(st, "at")->number, 4096);
	EXPECT(statement_option(st, "from") == NULL);
}

TEST("packets of the InfiniBand specification have their names, opcode 0 as well")
{
	struct scenario *s = parse_fl(SETUP
		"drop a -> b first 7 RC_SEND_FIRST\ndrop a -> b first 7 RC_ACKNOWLEDGE\n");

	EXPECT(s != NULL);
	EXPECT(s->st[s->count - 2].arg[5].set);
	EXPECT_EQ(s->st[s->count - 2].arg[5].choice, WOP_RC_SEND_FIRST);
	EXPECT_EQ(s->st[s->count - 1].arg[5].choice, WOP_RC_ACKNOWLEDGE);
}

TEST("an unknown statement is answered with the nearest one")
{
	wrong_at("borad a\n", "x.fl:1:1:", "did you mean 'board'?");
	wrong_at("board a\n  conect a a\n", "x.fl:2:3:", "connect");
	wrong_at("42\n", "x.fl:1:1:", "wanted: a statement");
	wrong_at("write c a -> b\n", "x.fl:1:1:", "as in 'post NAME: write ...' (one work");
	wrong_at("swap c a <- b\n", "x.fl:1:1:", "as in 'atomic NAME: swap ...'");
	wrong_at("writ c a -> b\n", "x.fl:1:1:", "wanted: a statement (did you");
	/* As a rule begins, so that there is nothing before it. */
	wrong_at("new:work c a -> b\n", "x.fl:1:1:", "wanted: a statement");
	wrong_at("new c a -> b\n", "x.fl:1:1:", "wanted: a statement");
}

TEST("an unknown name is answered with the nearest of its kind")
{
	wrong_at("board alpha\nprocess p on alpah\n", "x.fl:2:14:", "'alpha'");
	wrong_at("process p on a\n", "x.fl:1:14:", "there is none yet");
	wrong_at(SETUP "evict p\n", "x.fl:9:7:", "a buffer");
}

TEST("a name is declared once")
{
	wrong_at("board a\nboard a\n", "x.fl:2:7:", "declared in line 1");
	wrong_at("board 1a\n", "x.fl:1:7:", "a new name");
}

TEST("wrong numbers and units are named with what would be right")
{
	wrong_at("sleep 10\n", "x.fl:1:7:", "a time with its unit");
	wrong_at("sleep 10K\n", "x.fl:1:7:", "a time with its unit");
	wrong_at("board a frames=4x\n", "x.fl:1:16:", "a plain number");
	wrong_at(SETUP "evict src 8K..4K\n", "x.fl:9:11:", "end is after");
	wrong_at(SETUP "inject a->b loss=200%\n", "x.fl:9:18:", "100%");
	wrong_at("board a\nprocess p on a\nbuffer x in p 10us\n", "x.fl:3:15:",
		 "a size");
}

TEST("an unknown option or choice is named with the nearest")
{
	wrong_at("board a frame=4\n", "x.fl:1:9:", "'frames'");
	wrong_at("policy prat\n", "x.fl:1:8:", "'part'");
	wrong_at("policy pin resolve=blok\n", "x.fl:1:20:", "'block'");
	wrong_at("policy part resolve=arond:4\n", "x.fl:1:21:", "'around:N'");
	wrong_at("policy part resolve=around\n", "x.fl:1:21:",
		 "from 1 to 256");
	wrong_at("policy part resolve=around:\n", "x.fl:1:21: 'around:'",
		 "from 1 to 256");
	wrong_at("policy part resolve=around:0\n", "x.fl:1:21: 'around:0'",
		 "from 1 to 256");
	wrong_at("policy part resolve=around:999999\n",
		 "x.fl:1:21: 'around:999999'", "from 1 to 256");
	wrong_at("policy part resolve=around:4:4\n",
		 "x.fl:1:21: 'around:4:4'", "from 1 to 256");
	wrong_at("policy part resolve=around :4\n", "x.fl:1:21: 'around'",
		 "from 1 to 256");
	wrong_at("policy part resolve=stride:3\n", "x.fl:1:21: 'stride:3'",
		 "stride, without a number");
	wrong_at("board a frames=1 frames=2\n", "x.fl:1:18:", "once");
	wrong_at("board a frames 4\n", "x.fl:1:9:", "frames=VALUE");
	wrong_at("board a b\n", "x.fl:1:9:", "board NAME");
}

TEST("unknown events, statuses, packets and errors are named")
{
	wrong_at("expect count MM_FUALT == 1\n", "x.fl:1:14:", "'MM_FAULT'");
	wrong_at(SETUP "post w: write c src -> dst\nexpect status w remote-acess\n",
		 "x.fl:10:17:", "'remote-access'");
	wrong_at(SETUP "post w: write c src -> dst\nexpect status w remote-range\n",
		 "x.fl:10:17:", "refused_range");
	wrong_at(SETUP "post w: write c src -> dst\nexpect status w seen-key\n",
		 "x.fl:10:17:", "a status like ok");
	wrong_at("board a\nboard b\ndrop a->b first 1 REDY\n", "x.fl:3:19:",
		 "'READY'");
	wrong_at("board a fails EINVALID\n", "x.fl:1:15:", "'EINVAL'");
	wrong_at("expect\n", "x.fl:1:7:", "status, data");
	wrong_at("expect statsu w ok\n", "x.fl:1:8:", "'status'");
}

TEST("a line that ends too early says what is missing")
{
	wrong_at("board\n", "x.fl:1:6:", "the line ends here");
	wrong_at("board a\nprocess p on\n", "x.fl:2:13:", "a board");
	wrong_at("expect count MM_FAULT ==\n", "x.fl:1:25:", "a plain number");
}

TEST("strings without end and strange characters have their column")
{
	wrong_at("profile \"qfdb\n", "x.fl:1:9:", "closing quote");
	wrong_at("board a; board b\n", "x.fl:1:8:", "means nothing");
}

TEST("repeat and end must match")
{
	wrong_at("repeat 3\nsleep 1us\n", "x.fl:1:1:", "has no end");
	wrong_at("end\n", "x.fl:1:1:", "a repeat above");
}

TEST("every mistake of a file is reported, one a line")
{
	EXPECT(parse_fl("borad a\nsleep 1\nboard x\nlink x y\n") == NULL);
	EXPECT(strstr(said, "x.fl:1:1:") != NULL);
	EXPECT(strstr(said, "x.fl:2:7:") != NULL);
	EXPECT(strstr(said, "x.fl:4:8:") != NULL);
}

TEST("comments, blank lines and Windows line ends are read")
{
	struct scenario *s = parse_fl("# modes: lockstep\n\r\n\n  board a # x\r\n");

	EXPECT(s != NULL);
	EXPECT_EQ(s->count, 1);
	EXPECT_STR(s->st[0].text, "board a # x");
}

TEST("a file that is not there or not text is refused")
{
	FILE *f = fmemopen(said, sizeof(said), "w");

	EXPECT(scenario_load("/nonexistent.fl", f) == NULL);
	EXPECT(scenario_load("/", f) == NULL);
	fclose(f);
	EXPECT(strstr(said, "/nonexistent.fl: cannot read") != NULL);
}

TEST("a file that never ends is refused, of bytes that are no text and of text")
{
	FILE *f = fmemopen(said, sizeof(said), "w"), *p;
	char path[] = "/dev/fd/0000000000";

	EXPECT(scenario_load("/dev/zero", f) == NULL);
	p = popen("yes '# a comment'", "r");
	EXPECT(p != NULL);
	snprintf(path, sizeof(path), "/dev/fd/%d", fileno(p));
	EXPECT(scenario_load(path, f) == NULL);
	pclose(p);
	fclose(f);
	EXPECT(strstr(said, "File too large") != NULL);
}

TEST("random lines never crash the parser")
{
	static const char *const bits[] = {
		"board", "a", "b", "->", "=", "frames=", "\"", "0..4K", "post",
		":", "expect", "count", "MM_FAULT", "==", "12", "1%", "fails",
		"EINVAL", "repeat", "end", "#", ",", "rights=none", "\\", "wait",
		"all", "works", "in", "on", "99999999999999999999", "1.5us"
	};
	uint64_t x = test_seed() * 0x9e3779b97f4a7c15ull + 1;
	char text[600];
	int round, i;

	for (round = 0; round < 3000; round++) {
		text[0] = 0;
		for (i = 0; i < 12; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			strcat(text, bits[x % (sizeof(bits) / sizeof(*bits))]);
			strcat(text, x >> 60 ? " " : "\n");
		}
		{
			FILE *f = fmemopen(said, sizeof(said), "w");
			struct scenario *s = scenario_parse("r", text, f);

			fclose(f);
			EXPECT(s || said[0]);
			scenario_free(s);
		}
	}
}

TEST("a list of names is told whole")
{
	wrong_at("board a\nexpect stat a fault == 4\n", "x.fl:2:15:",
		 "slots_peak, fragments_sent or fragments_resent\n");
	wrong_at(SETUP "expect counter p x == 4\n", "x.fl:9:18:",
		 "cache_bytes or cache_most_bytes\n");
	wrong_at("board a\nprint stat a\n", "x.fl:2:13:",
		 "slots_peak, fragments_sent or fragments_resent\n");
}

/* Two boards and what is needed for a post between them, without a link. */
#define APART                                                          \
	"board a\nboard b\nboard h\nprocess p on a\nprocess q on b\n"  \
	"buffer s in p 4K\nbuffer d in q 4K\nregion s\nregion d\n"     \
	"connect p q as c\n"
/* The same on one board, without regions. */
#define KEYLESS                                                        \
	"board a\nprocess p on a\nbuffer s in p 4K\nbuffer d in p 4K\n" \
	"connect p p as c\n"
#define POST "post w: write c s -> d\n"

TEST("a link that is missing is named where it is needed")
{
	wrong_at(APART POST, "x.fl:11:15:", "boards a and b, which c connects, "
		 "have no link; wanted: 'link a b' in a line above");
	wrong_at(APART "link a h\n" POST, "x.fl:12:15:", "have no link");
	wrong_at(APART POST "link a b\n", "x.fl:11:15:", "have no link");
	wrong_at(APART "link a b fails EINVAL\n" POST, "x.fl:12:15:",
		 "no link");
	wrong_at(APART POST "expect status w ok\n", "x.fl:11:15:", "no link");
	wrong_at(APART POST "wait w\n" POST, "x.fl:11:15:", "no link");
	EXPECT(strstr(said, "x.fl:13") == NULL);
}

TEST("a link may go over other boards, or be missing on purpose")
{
	EXPECT(parse_fl(APART "link a h\nlink b h\n" POST) != NULL);
	EXPECT(parse_fl(APART POST "wait w\nexpect status w no-answer\n") !=
	       NULL);
	EXPECT(parse_fl(APART POST "wait w\nexpect status w not ok\n") != NULL);
	EXPECT(parse_fl(APART "post w: write c s -> d fails EINVAL\n") != NULL);
	EXPECT(parse_fl(APART) != NULL);
}

TEST("a region that is missing is named where it is needed")
{
	wrong_at(KEYLESS "region s\n" POST, "x.fl:7:22:", "buffer d has no region; "
		 "wanted: 'region d' in a line above");
	wrong_at(KEYLESS "region d\n" POST, "x.fl:7:17:", "buffer s has no region");
	wrong_at(KEYLESS "region s\nregion d fails EINVAL\n" POST, "x.fl:8:22:",
		 "buffer d has no region");
	wrong_at(KEYLESS "region s\npost w: write c s -> d rkey=s lkey=d\n",
		 "x.fl:7:36:", "buffer d has no region");
	wrong_at(KEYLESS "region s\nregion d\nderegister d\n" POST,
		 "x.fl:9:22:", "buffer d is deregistered above");
	wrong_at(KEYLESS "prefetch d write\n", "x.fl:6:10:", "no region");
	wrong_at(KEYLESS "deregister d\n", "x.fl:6:12:", "no region");
}

TEST("a region that was given back may be kept, where a system keeps it")
{
	EXPECT(parse_fl("policy pincache\n" KEYLESS "region s\nregion d\nderegister d\n"
			POST) != NULL);
	EXPECT(parse_fl("system k like=pin before=cache\npolicy k\n" KEYLESS
			"region s\nregion d\nderegister d\n" POST) != NULL);
	wrong_at("policy pin\n" KEYLESS "region s\nregion d\nderegister d\n" POST,
		 "x.fl:10:22:", "buffer d is deregistered above");
	wrong_at("policy pincache\n" KEYLESS "region s\n" POST, "x.fl:8:22:",
		 "buffer d has no region");
	wrong_at("policy pincache\n" KEYLESS "region s\nderegister s\nderegister s\n",
		 "x.fl:9:12:", "buffer s is deregistered above");
	wrong_at("system k like=pin before=cache\npolicy k cache=0\n", "x.fl:2:16:",
		 "a size of at least one byte");
	wrong_at("policy part verify=no\n", "x.fl:1:20:", "verify= with npr");
	wrong_at("system k like=pincache before=pin\npolicy k hook=no\n", "x.fl:2:15:",
		 "cache= and hook= with pincache");
	wrong_at("system k like=part tables=inserted before=cache\n", "x.fl:1:27:",
		 "before=pin (or cache)");
}

TEST("a region may be missing on purpose")
{
	EXPECT(parse_fl(KEYLESS "region s\n" POST "expect status w remote-access\n") !=
	       NULL);
	EXPECT(parse_fl(KEYLESS "region s\npost w: write c s -> d rkey=7\n") !=
	       NULL);
	EXPECT(parse_fl(KEYLESS "deregister d fails ENOENT\n") != NULL);
	EXPECT(parse_fl(KEYLESS "region s\nregion d\nrepeat 2\nderegister d\n"
			"region d\n" POST "wait w\nend\n") != NULL);
}

TEST("what a line says and nothing would look at is a mistake")
{
	wrong_at(SETUP "buffer x in p 4K seed=5\n", "x.fl:9:23:",
		 "seed=N with fill=random or fill=pattern");
	wrong_at(SETUP "buffer x in p 4K fill=zero seed=5\n", "x.fl:9:33:",
		 "seed=N with fill=random");
	wrong_at(SETUP "buffer x in p 4K file=\"/etc/passwd\"\n", "x.fl:9:15:",
		 "no size with file=");
	wrong_at(SETUP "buffer x in p\n", "x.fl:9:1:",
		 "a size or file=\"PATH\"");
	wrong_at(SETUP "buffer x in p 0\n", "x.fl:9:15:", "at least one byte");
	wrong_at(SETUP "buffer x in p 4K fill=random cold\n", "x.fl:9:30:",
		 "no 'cold' with fill=");
	wrong_at(SETUP "buffer x in p 4K cold warm\n", "x.fl:9:18:",
		 "no 'cold'");
	wrong_at(SETUP "expect data src = dst seed=3\n", "x.fl:9:28:",
		 "seed=N with random or pattern");
	wrong_at(SETUP "expect data src = zero seed=3\n", "x.fl:9:29:",
		 "seed=N");
	wrong_at(SETUP "inject a->b\n", "x.fl:9:1:", "what to inject");
	wrong_at(SETUP "inject a->b loss=1% off\n", "x.fl:9:21:",
		 "'off' alone");
	wrong_at(SETUP "inject a->b share=5%\n", "x.fl:9:19:",
		 "with late=TIME");
	EXPECT(parse_fl(SETUP "buffer x in p 4K cold\nbuffer y in p 4K "
			"fill=pattern seed=2 evicted\ninject a->b off\n"
			"expect data x = pattern seed=2\n"
			"buffer z in p 0 fails EINVAL\n") != NULL);
}

#define READY SETUP "region src\nregion dst\n"

TEST("a post that contradicts itself is a mistake")
{
	wrong_at(READY "post w: write c src <- dst\n", "x.fl:11:21:",
		 "a write goes LOCAL -> REMOTE");
	wrong_at(READY "post w: read c src -> dst\n", "x.fl:11:20:",
		 "a read goes LOCAL <- REMOTE");
	wrong_at(READY "post w: write c src -> dst 4G\n", "x.fl:11:28:",
		 "a size below 4G");
	wrong_at(READY "post w: write c src -> dst from=4K local=4096\n",
		 "x.fl:11:33:", "from= or local=, not both");
	wrong_at(READY "post w: write c src -> dst at=4K remote=4096\n",
		 "x.fl:11:31:", "at= or remote=, not both");
	wrong_at(SETUP "expect status w ok\n", "x.fl:9:15:",
		 "a work request that is declared above (there is none yet)");
	EXPECT(parse_fl(READY "post w: write c src <- dst fails EINVAL\n") !=
	       NULL);
}

TEST("a message, a receive, an atomic or a quirk that contradicts itself is a mistake")
{
	wrong_at(READY "post w: read c src <- dst imm=3\n", "x.fl:11:31:",
		 "a read carries nothing");
	wrong_at(READY "post w: write c src -> dst solicited\n", "x.fl:11:28:",
		 "imm=N with solicited");
	wrong_at(READY "send w: c src imm=4294967296\n", "x.fl:11:19:",
		 "4294967295");
	wrong_at(READY "receive w: c dst n=0\n", "x.fl:11:20:", "from 1 to");
	wrong_at(READY "send w: c src at=4K\n", "x.fl:11:15:", "[from=SIZE]");
	wrong_at(READY "atomic a: swap c src <- dst value=3\n", "x.fl:11:11:",
		 "compare=N and value=N");
	wrong_at(READY "atomic a: add c src <- dst compare=3\n",
		 "x.fl:11:36:", "with swap, not with add");
	wrong_at(READY "atomic a: add c src -> dst\n", "x.fl:11:21:", "<-");
	wrong_at(SETUP "connect p q as d mtu=1500\n", "x.fl:9:22:",
		 "256, 512, 1024, 2048 or 4096");
	wrong_at(SETUP "connect p q as d rnr=32\n", "x.fl:9:22:", "0 to 31");
	wrong_at(SETUP "connect p q as d inline=193\n", "x.fl:9:25:",
		 "0 to 192");
	wrong_at(SETUP "send w: c src\n", "x.fl:9:11:", "has no region");
	wrong_at("policy part quirk=cut\n", "x.fl:1:19:", "packets, as npf");
	wrong_at("policy npf quirk=daming\n", "x.fl:1:18:",
		 "did you mean 'damming'?");
	/* What is copied at once, and what has no bytes, needs no region. */
	EXPECT(parse_fl(SETUP "send w: c src inline 64\n") == NULL);
	EXPECT(parse_fl(SETUP "send w: c src 64 inline\nsend v: c src 0\n"
			"receive r: c dst 0\n") != NULL);
	EXPECT(parse_fl("policy npf quirk=cut,code25,damming\n") != NULL);
}

TEST("a way to wait for a counter that there is not is a mistake")
{
	const char *setup = SETUP "counter n in q\n";
	char text[2000];

	snprintf(text, sizeof(text), "%sawait n >= 1 by=queue-bussy\n", setup);
	wrong_at(text, "x.fl:10:17:", "did you mean 'queue-busy'?");
	snprintf(text, sizeof(text), "%sawait n >= 1 by=semaphore-busy\n", setup);
	EXPECT(parse_fl(text) != NULL);
}

TEST("a backup ring of a size that the driver does not make is a mistake")
{
	wrong_at("policy backup slots=1\n", "x.fl:1:21:", "a power of two from 2 to 1024");
	wrong_at("policy backup slots=96\n", "x.fl:1:21:", "a power of two from 2 to 1024");
	wrong_at("policy backup slots=2048\n", "x.fl:1:21:", "slots of the backup ring");
	wrong_at("policy backup bm=0\n", "x.fl:1:18:", "a number from 1 to 256");
	wrong_at("policy backup bm=257\n", "x.fl:1:18:", "hold of one queue pair");
	wrong_at("policy dropring bm=8\n", "x.fl:1:20:", "with backup, or with a system");
	wrong_at("policy part slots=8\n", "x.fl:1:19:", "rw=divert");
	EXPECT(parse_fl("policy backup slots=2 bm=1\n") != NULL);
	EXPECT(parse_fl("policy backup slots=1024 bm=256\n") != NULL);
}

TEST("numbers that no board has are a mistake, not another number")
{
	wrong_at("board a frames=0\n", "x.fl:1:16:", "a number from 1 to");
	wrong_at("board a contexts=300\n", "x.fl:1:18:", "from 1 to 255");
	wrong_at("board a block=4294983680\n", "x.fl:1:15:", "4294967295");
	wrong_at("board a tlb=0\n", "x.fl:1:13:", "a number from 1");
	wrong_at(SETUP "connect p q as d depth=0\n", "x.fl:9:24:",
		 "from 1 to 65535");
	wrong_at(SETUP "connect p q as d domain=4\n", "x.fl:9:25:", "from 0 to 3");
	wrong_at(SETUP "region src domain=9\n", "x.fl:9:19:", "from 0 to 3");
	wrong_at(SETUP "drop a->b first 4294967297\n", "x.fl:9:17:", "4294967295");
	wrong_at("repeat 4294967296\nend\n", "x.fl:1:8:", "4294967295");
	EXPECT(parse_fl("board a contexts=300 fails EINVAL\n") != NULL);
}

TEST("what data are compared with is a buffer or a fill")
{
	wrong_at(SETUP "expect data src = rndom\n", "x.fl:9:19:",
		 "zero, random or pattern (did you mean 'random'?)");
	wrong_at(SETUP "expect data src = dest\n", "x.fl:9:19:",
		 "did you mean 'dst'?");
}

TEST("the nearest word is found in capitals, too")
{
	wrong_at("expect count mm_fault == 1\n", "x.fl:1:14:",
		 "did you mean 'MM_FAULT'?");
	wrong_at(READY "post w: write c src -> dst\nexpect status w OK\n",
		 "x.fl:12:17:", "did you mean 'ok'?");
}
