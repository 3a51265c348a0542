// SPDX-License-Identifier: BSD-2-Clause
/*
 * Command lines. The first byte names the subcommand, each further line is a word. What is
 * refused is refused with status 2 and a message that names the command; what is accepted
 * is within its bounds, and --name value means what --name=value means. The last word is
 * tried as --udp and --links too.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"
#include "fuzz.h"
#include "nic/wire.h"
#include "tools/faultline/options.h"

const char fuzz_name[] = "options";

#define WORDS	48

static const struct command *const commands[] = {
	&command_send, &command_run, &command_trace, &command_demo,
	&command_board, &command_vm, &command_equal, &command_reproduce,
};

struct line {
	char *argv[WORDS + 2];
	int argc;
};

static int fuzz_options_parse(const struct command *c, struct line *l,
			      struct options *o, const char **said)
{
	int err;

	fuzz_listen();
	err = options_parse(c, l->argc, l->argv, o);
	*said = fuzz_said();
	return err;
}

static void fuzz_options_judge(const struct command *c, const struct options *o)
{
	int i, sets = 0;

	FUZZ_EXPECT(o->count >= c->least && o->count <= c->most,
		    "%s takes %d to %d arguments, and has %d", c->name,
		    c->least, c->most, o->count);
	for (i = 0; i < o->count; i++)
		FUZZ_EXPECT(o->args[i], "argument %d is there", i);
	while (sets <= OPTIONS_SETS && o->sets[sets])
		sets++;
	FUZZ_EXPECT(sets <= OPTIONS_SETS, "the list of sets has an end");
	FUZZ_EXPECT(!o->cfg.processes || o->cfg.mode == SIM_THREADS,
		    "processes run in threads mode");
}

static bool fuzz_options_same(const struct options *a, const struct options *b)
{
	return a->cfg.mode == b->cfg.mode && a->cfg.seed == b->cfg.seed &&
	       a->cfg.system == b->cfg.system &&
	       a->cfg.resolve == b->cfg.resolve &&
	       a->cfg.resolve_number == b->cfg.resolve_number &&
	       a->count == b->count &&
	       a->cfg.processes == b->cfg.processes && a->vm == b->vm &&
	       a->cfg.system_given == b->cfg.system_given &&
	       !a->trace == !b->trace;
}

/* "--name" "value" for each "--name=value", as long as there is room. */
static void fuzz_options_split(const struct line *l, struct line *to,
			       char *room)
{
	bool ended = false, value = false;
	char *eq;
	int i;

	to->argc = 0;
	for (i = 0; i < l->argc && to->argc < WORDS; i++) {
		ended |= !strcmp(l->argv[i], "--");
		eq = strchr(l->argv[i], '=');
		strcpy(room, l->argv[i]);
		to->argv[to->argc++] = room;
		/* What follows an option without "=" may be its value. */
		if (!ended && !value && !strncmp(room, "--", 2) && eq) {
			room[eq - l->argv[i]] = 0;
			to->argv[to->argc++] = room + (eq - l->argv[i]) + 1;
		}
		value = !strncmp(l->argv[i], "--", 2) && !eq;
		room += strlen(l->argv[i]) + 1;
	}
	to->argv[to->argc] = NULL;
	if (i < l->argc)
		to->argc = -1;
}

/* ---- --udp, --links ---- */

static void try_udp(const char *text)
{
	struct fabric_udp_config c, again;
	char error[300] = "", printed[120];
	int err = fabric_udp_parse(text, &c, error, sizeof(error));

	if (err) {
		FUZZ_EXPECT(error[0], "--udp is refused without a word");
		return;
	}
	FUZZ_EXPECT(c.first <= c.last && c.last < FABRIC_UDP_NODES && c.peer_port,
		    "nodes and port are in range");
	snprintf(printed, sizeof(printed), "%u.%u.%u.%u:%u/%u.%u.%u.%u:%u/%u-%u",
		 c.local >> 24, c.local >> 16 & 255, c.local >> 8 & 255,
		 c.local & 255, c.local_port, c.peer >> 24,
		 c.peer >> 16 & 255, c.peer >> 8 & 255, c.peer & 255,
		 c.peer_port, c.first, c.last);
	err = fabric_udp_parse(printed, &again, error, sizeof(error));
	FUZZ_EXPECT(!err && again.local == c.local && again.peer == c.peer &&
		    again.local_port == c.local_port &&
		    again.peer_port == c.peer_port && again.first == c.first &&
		    again.last == c.last, "'%s', printed as '%s', is the same",
		    text, printed);
}

static const char *board_name_of(void *arg, unsigned int i)
{
	static const char *const names[] = { "a", "b", "ab" };

	(void)arg;
	return names[i];
}

static int count_link(void *arg, unsigned int i, unsigned int k)
{
	unsigned int *links = arg;

	FUZZ_EXPECT(i < 3 && k < 3 && i != k, "boards %u and %u are linked", i,
		    k);
	return ++*links > 8 ? -17 : 0;
}

static void try_links(const struct command *c, const char *text)
{
	unsigned int links = 0;
	const char *said;
	int err;

	fuzz_listen();
	err = options_links(c, text, 3, board_name_of, count_link, &links);
	said = fuzz_said();
	FUZZ_EXPECT(err ? !!*said : !*said, "--links '%s': %d, '%s'", text, err,
		    said);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct command *c = commands[size ? data[0] % 8 : 0];
	char *text = fuzz_text(data + !!size, size - !!size), *save, *word;
	char *room = malloc(2 * size + 2);
	struct options *o = calloc(2, sizeof(*o));
	struct line l = { .argc = 0 }, other;
	const char *said;
	int err;

	FUZZ_EXPECT(o && room, "there is memory for options");
	for (word = strtok_r(text, "\n", &save); word && l.argc < WORDS;
	     word = strtok_r(NULL, "\n", &save))
		l.argv[l.argc++] = word;
	err = fuzz_options_parse(c, &l, &o[0], &said);
	FUZZ_EXPECT(err == 0 || err == 1 || err == 2, "status %d", err);
	FUZZ_EXPECT(err != 2 || strstr(said, c->name),
		    "refused, and the message does not name %s: '%s'", c->name,
		    said);
	if (!err) {
		fuzz_options_judge(c, &o[0]);
		fuzz_options_split(&l, &other, room);
		if (other.argc >= 0)
			FUZZ_EXPECT(!fuzz_options_parse(c, &other, &o[1],
							&said) &&
				    fuzz_options_same(&o[0], &o[1]),
				    "--name value is --name=value: %s", said);
	}
	if (l.argc) {
		try_udp(l.argv[l.argc - 1]);
		try_links(c, l.argv[l.argc - 1]);
	}
	free(o);
	free(room);
	free(text);
	return 0;
}
