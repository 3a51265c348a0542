// SPDX-License-Identifier: BSD-2-Clause
#include "tools/faultline/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/capture.h"
#include "faultline/system_rows.h"
#include "sim/timing.h"
#include "tools/scenario/testbed.h"
#include "tools/scenario/words.h"

static const char *const modes[] = { "lockstep", "threads", "processes", "vm",
				     NULL };
enum { MODE_PROCESSES = 2, MODE_VM = 3 };
static const char *const systems[] = { FL_SYSTEM_NAMES, NULL };
static const char *const hooks[] = { "yes", "no", NULL };
static const char *const engines[] = { "c", "rtl", "both", NULL };

static const struct {
	unsigned int bit;
	const char *name, *value, *text;
} common[] = {
	{ OPT_SEED, "--seed", "N", "of all random choices (default 1)" },
	{ OPT_MODE, "--mode", "lockstep|threads|processes|vm",
	  "virtual time, the same every time; real threads; real processes; "
	  "real kernels (run)" },
	{ OPT_PROFILE, "--profile", "NAME|FILE",
	  "timing profile: ideal (default), qfdb, pm, connectx, ethernet, myrinet, or a file" },
	{ OPT_POLICY, "--policy", FL_SYSTEM_WORDS,
	  "what to do about pages that are not there (default part)" },
	{ OPT_RESOLVE, "--resolve", "PLAN",
	  "how much the driver pages in at one fault: page, block (default), "
	  "transfer, around:N, double, stride, majority, history" },
	{ OPT_CACHE, "--cache", "SIZE",
	  "pincache: how much the library may keep pinned, of each process "
	  "(default 64M)" },
	{ OPT_HOOK, "--hook", "yes|no",
	  "pincache: does the library hear of memory that is unmapped (default "
	  "yes)" },
	{ OPT_ENGINE, "--engine", "c|rtl|both",
	  "the block engine: in C (default), in Verilog (make rtl-model), or "
	  "both, compared at every call" },
	{ OPT_TRACE, "--trace", "OUT", "write every event to this file" },
	{ OPT_PCAP, "--pcap", "OUT",
	  "write every packet to this file, for Wireshark (pcapng)" },
	{ OPT_SET, "--set", "NAME=VALUE",
	  "change one value of the profile; may be given often" },
};

#define COMMONS ((int)(sizeof(common) / sizeof(common[0])))

const char *options_system_name(enum fl_system p)
{
	return systems[p];
}

const char *options_engine_name(enum engine_kind e)
{
	return engines[e];
}

static void options_put(FILE *f, const char *name, const char *value,
			const char *text)
{
	int n = fprintf(f, "  %s %s", name, value);

	fprintf(f, "%*s %s\n", n < 38 ? 38 - n : 0, "", text);
}

void options_help(const struct command *c, FILE *f)
{
	int i;

	fprintf(f, "usage: faultline %s [OPTION...] %s\n\n%s\n\noptions:\n",
		c->name, c->arguments, c->text);
	for (i = 0; i < OPTIONS_OWN && c->own[i].name; i++)
		options_put(f, c->own[i].name,
			    c->own[i].value ? c->own[i].value : "",
			    c->own[i].text);
	for (i = 0; i < COMMONS; i++) {
		if (c->common & common[i].bit)
			options_put(f, common[i].name, common[i].value,
				    common[i].text);
	}
	options_put(f, "--help", "", "this text");
}

static int options_choose(const struct command *c, const char *option,
			  const char *value, const char *const *list)
{
	const char *near = word_nearest(value, list);
	int i;

	for (i = 0; list[i]; i++)
		if (!strcmp(list[i], value))
			return i;
	fprintf(stderr, "faultline %s: %s '%s'; wanted: ", c->name, option,
		value);
	for (i = 0; list[i]; i++)
		fprintf(stderr, "%s%s", i ? ", " : "", list[i]);
	if (near)
		fprintf(stderr, " (did you mean '%s'?)", near);
	fputc('\n', stderr);
	return -1;
}

static int check_profile(const struct command *c, const char *value)
{
	struct timing_profile p;
	char error[400];

	if (timing_load(&p, value, error, sizeof(error)) < 0) {
		fprintf(stderr, "faultline %s: --profile: %s\n", c->name,
			error);
		return 2;
	}
	timing_free(&p);
	return 0;
}

static int add_set(const struct command *c, struct options *o,
		   const char *value)
{
	struct timing_profile p;
	char error[400] = "at most 32 of them";
	int i = 0;

	timing_defaults(&p);
	while (i < OPTIONS_SETS && o->sets[i])
		i++;
	if (i == OPTIONS_SETS ||
	    timing_set(&p, value, error, sizeof(error)) < 0) {
		fprintf(stderr, "faultline %s: --set: %s\n", c->name, error);
		return 2;
	}
	o->sets[i] = value;
	return 0;
}

static int options_resolve(const struct command *c, struct options *o,
			   const char *value)
{
	char room[WORD_ROOM];
	int plan;
	const char *right = word_resolve(value, &plan, &o->cfg.resolve_number,
					 room);

	if (right)
		return options_wrong(c, "--resolve", value, right);
	o->cfg.resolve = (enum fl_resolve)plan;
	return 0;
}

static int options_cache(const struct command *c, struct options *o,
			 const char *value)
{
	const char *right = word_size(value, &o->cfg.cache.bytes);

	if (!right && !o->cfg.cache.bytes)
		right = "a size of at least one byte: what is in use counts, too";
	return right ? options_wrong(c, "--cache", value, right) : 0;
}

/* `run` may have its systems from the scenario, and compare has all of them. */
static int options_cache_fits(const struct command *c, const struct options *o)
{
	const struct rpc_cache *k = &o->cfg.cache;

	if ((!k->bytes && !k->hook) || !(c->common & OPT_POLICY) ||
	    testbed_row_caches(&fl_system_rows[o->cfg.system]) ||
	    (c == &command_run && !o->cfg.system_given))
		return 0;
	return options_wrong(c, k->bytes ? "--cache" : "--hook",
			     "of a system that has no cache",
			     "--policy pincache with it");
}

/* Files, arrays and plans travel in WRITEs. */
static int options_transport_fits(const struct command *c, const struct options *o)
{
	if (!(c->common & OPT_POLICY) || c == &command_run ||
	    fl_system_rows[o->cfg.system].transport != FL_TRANSPORT_UD)
		return 0;
	return options_wrong(c, "--policy", options_system_name(o->cfg.system),
			     "a system that has WRITEs; datagrams are for scenarios "
			     "(faultline run)");
}

int options_udp_fits(const struct command *c, const struct options *o)
{
	if (fl_system_rows[o->cfg.system].transport != FL_TRANSPORT_NV)
		return 0;
	return options_wrong(c, "--policy", options_system_name(o->cfg.system),
			     "a system whose packets cross a link over UDP (--udp); "
			     "NetVM's have no room for what processes must tell each other");
}

static int take_common(const struct command *c, struct options *o,
		       unsigned int bit, const char *value)
{
	const char *right;
	int i = 0;

	switch (bit) {
	case OPT_SEED:
		right = word_count(value, &o->cfg.seed);
		if (!right)
			return 0;
		fprintf(stderr, "faultline %s: --seed '%s'; wanted: %s\n",
			c->name, value, right);
		return 2;
	case OPT_MODE:
		i = options_choose(c, "--mode", value, modes);
		o->cfg.mode = i > 0 ? SIM_THREADS : SIM_LOCKSTEP;
		o->cfg.processes = i == MODE_PROCESSES;
		o->vm = i == MODE_VM;
		if (o->vm && c != &command_run)
			return options_wrong(c, "--mode", value, "lockstep, "
					     "threads or processes (vm: "
					     "faultline run)");
		break;
	case OPT_PROFILE:
		o->cfg.profile = value;
		o->cfg.profile_given = true;
		return check_profile(c, value);
	case OPT_POLICY:
		i = options_choose(c, "--policy", value, systems);
		o->cfg.system = (enum fl_system)i;
		o->cfg.system_given = true;
		break;
	case OPT_RESOLVE:
		o->cfg.resolve_given = true;
		return options_resolve(c, o, value);
	case OPT_CACHE:
		return options_cache(c, o, value);
	case OPT_HOOK:
		i = options_choose(c, "--hook", value, hooks);
		o->cfg.cache.hook = i ? RPC_HOOK_NO : RPC_HOOK_YES;
		break;
	case OPT_ENGINE:
		i = options_choose(c, "--engine", value, engines);
		o->cfg.engine = (enum engine_kind)i;
		if (i > 0 && !engine_plugin(&right)) {
			fprintf(stderr, "faultline %s: --engine %s: %s\n",
				c->name, value, right);
			return 2;
		}
		break;
	case OPT_TRACE:
		o->trace = value;
		break;
	case OPT_PCAP:
		o->pcap = value;
		break;
	default:
		return add_set(c, o, value);
	}
	return i < 0 ? 2 : 0;
}

static int options_unknown(const struct command *c, const char *word)
{
	const char *list[COMMONS + OPTIONS_OWN + 2], *near;
	int i, n = 0;

	for (i = 0; i < COMMONS; i++)
		if (c->common & common[i].bit)
			list[n++] = common[i].name;
	for (i = 0; i < OPTIONS_OWN && c->own[i].name; i++)
		list[n++] = c->own[i].name;
	list[n++] = "--help";
	list[n] = NULL;
	near = word_nearest(word, list);
	fprintf(stderr, "faultline %s: unknown option '%s'", c->name, word);
	if (near)
		fprintf(stderr, "; did you mean '%s'?", near);
	fprintf(stderr, " (see: faultline %s --help)\n", c->name);
	return 2;
}

/* Does word say this option, alone or as name=value? */
static bool option_says(const char *word, const char *name, const char **value)
{
	size_t n = strlen(name);

	*value = NULL;
	if (strncmp(word, name, n))
		return false;
	if (word[n] == '=')
		*value = word + n + 1;
	return !word[n] || word[n] == '=';
}

/* One option at argv[*i]; moves *i over its value. */
static int options_take(const struct command *c, struct options *o, int argc,
			char **argv, int *i)
{
	const char *word = argv[*i], *value, *wants = NULL;
	int k, own = -1, which = -1;

	for (k = 0; k < OPTIONS_OWN && c->own[k].name && own < 0; k++)
		if (option_says(word, c->own[k].name, &value))
			own = k;
	for (k = 0; k < COMMONS && own < 0 && which < 0; k++)
		if ((c->common & common[k].bit) &&
		    option_says(word, common[k].name, &value))
			which = k;
	if (own < 0 && which < 0)
		return options_unknown(c, word);
	wants = own >= 0 ? c->own[own].value : common[which].value;
	if (!wants && value) {
		fprintf(stderr, "faultline %s: %s takes no value\n", c->name,
			c->own[own].name);
		return 2;
	}
	if (wants && !value)
		value = *i + 1 < argc ? argv[++*i] : NULL;
	if (wants && !value) {
		fprintf(stderr, "faultline %s: %s wants a value: %s\n",
			c->name, word, wants);
		return 2;
	}
	if (which >= 0)
		return take_common(c, o, common[which].bit, value);
	o->own[own] = wants ? value : "";
	return 0;
}

int options_parse(const struct command *c, int argc, char **argv,
		  struct options *o)
{
	bool ended = false;
	int i, err;

	memset(o, 0, sizeof(*o));
	o->cfg.seed = 1;
	o->cfg.resolve = FL_RESOLVE_BLOCK;
	o->cfg.sets = o->sets;
	for (i = 0; i < argc; i++) {
		if (!ended && !strcmp(argv[i], "--help")) {
			options_help(c, stdout);
			return 1;
		}
		if (!ended && !strcmp(argv[i], "--")) {
			ended = true;
		} else if (!ended && argv[i][0] == '-' && argv[i][1]) {
			err = options_take(c, o, argc, argv, &i);
			if (err)
				return err;
		} else if (o->count < 64) {
			o->args[o->count++] = argv[i];
		}
	}
	if (o->count >= c->least && o->count <= c->most)
		return options_cache_fits(c, o) || options_transport_fits(c, o) ? 2 : 0;
	fprintf(stderr, "faultline %s: %s; wanted: faultline %s [OPTION...] "
	"%s\n",
		c->name, o->count < c->least ? "something is missing" :
					       "too many arguments",
		c->name, c->arguments);
	return 2;
}

/* ---- what several commands have as options of their own ---- */

int options_wrong(const struct command *c, const char *option,
		  const char *value, const char *right)
{
	fprintf(stderr, "faultline %s: %s '%s'; wanted: %s\n", c->name, option,
		value, right);
	return 2;
}

int options_number(const struct options *o, const struct command *c, int own,
		   uint64_t least, uint64_t most, uint64_t *value)
{
	const char *right = NULL;
	char text[80];

	if (!o->own[own])
		return 0;
	right = word_count(o->own[own], value);
	if (!right && *value >= least && *value <= most)
		return 0;
	snprintf(text, sizeof(text), "a number from %llu to %llu",
		 (unsigned long long)least, (unsigned long long)most);
	return options_wrong(c, c->own[own].name, o->own[own], text);
}

/* Number of the board that has these n letters as its name; -1: none. */
static int options_find_name(const char *text, size_t n, unsigned int boards,
			     const char *(*name)(void *arg, unsigned int i),
			     void *arg)
{
	unsigned int i;

	for (i = 0; i < boards; i++)
		if (strlen(name(arg, i)) == n && !memcmp(name(arg, i), text, n))
			return (int)i;
	return -1;
}

static int link_all(unsigned int n,
		    int (*link)(void *arg, unsigned int i, unsigned int k),
		    void *arg)
{
	unsigned int i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < i; k++)
			if (link(arg, k, i))
				return 1;
	return 0;
}

int options_links(const struct command *c, const char *text, unsigned int n,
		  const char *(*name)(void *arg, unsigned int i),
		  int (*link)(void *arg, unsigned int i, unsigned int k),
		  void *arg)
{
	const char *at = text;
	size_t a, b;
	int x, y;

	if (!at)
		return link_all(n, link, arg);
	while (*at) {
		a = strcspn(at, ":,");
		b = at[a] == ':' ? strcspn(at + a + 1, ",") : 0;
		x = options_find_name(at, a, n, name, arg);
		y = b ? options_find_name(at + a + 1, b, n, name, arg) : -1;
		if (x < 0 || y < 0 || x == y ||
		    link(arg, (unsigned int)x, (unsigned int)y))
			return options_wrong(c, "--links", at, "pairs of "
					     "boards, each once: a:b,b:c");
		at += a + 1 + b;
		at += *at == ',';
	}
	return 0;
}

static int options_unwritten(const struct command *c, const char *what,
			      const char *path, int err)
{
	fprintf(stderr, "faultline %s: cannot write %s %s: %s\n", c->name, what,
		path, strerror(err));
	return 2;
}

int options_open_outputs(const struct command *c, struct options *o)
{
	int err;

	if (o->trace) {
		o->cfg.trace = fopen(o->trace, "w");
		if (!o->cfg.trace)
			return options_unwritten(c, "the trace", o->trace, errno);
	}
	if (!o->pcap)
		return 0;
	o->cfg.capture = capture_open(o->pcap, &err);
	if (o->cfg.capture)
		return 0;
	options_unwritten(c, "the packets to", o->pcap, -err);
	options_close_outputs(c, o);
	return 2;
}

int options_close_outputs(const struct command *c, struct options *o)
{
	int bad = 0, err;

	if (o->cfg.trace) {
		err = ferror(o->cfg.trace) ? EIO : 0;
		if (fclose(o->cfg.trace))
			err = errno;
		if (err)
			bad = options_unwritten(c, "the trace", o->trace, err);
	}
	err = capture_close(o->cfg.capture);
	if (err)
		bad = options_unwritten(c, "the packets to", o->pcap, -err);
	o->cfg.trace = NULL;
	o->cfg.capture = NULL;
	return bad ? 1 : 0;
}
