// SPDX-License-Identifier: BSD-2-Clause
/* udp_parse.c - a link to another process as text: LOCAL[:PORT]/PEER[:PORT]/NODE[-NODE]. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"
#include "nic/wire.h"

#define FORM "LOCAL[:PORT]/PEER[:PORT]/NODE[-NODE]"

struct problem {
	char *text;
	size_t bytes;
};

__attribute__((format(printf, 2, 3)))
static int parse_problem(const struct problem *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->text, p->bytes, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* Digits and nothing else; -1: not a number up to most. */
static long parse_number(const char *text, long most)
{
	long value = 0;

	if (!*text)
		return -1;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -1;
		value = value * 10 + (*text - '0');
		if (value > most)
			return -1;
	}
	return value;
}

/* ADDRESS[:PORT]; what: LOCAL or PEER. */
static int parse_place(char *text, const char *what, uint32_t *ip,
		       uint16_t *port, const struct problem *p)
{
	char *colon = strchr(text, ':');
	struct in_addr a;
	long n;

	*port = FABRIC_UDP_PORT;
	if (colon) {
		n = parse_number(colon + 1, 65535);
		if (n < 1)
			return parse_problem(p, "%s: '%s' is not a port (1 to 65535)",
					     what, colon + 1);
		*port = (uint16_t)n;
		*colon = '\0';
	}
	if (inet_pton(AF_INET, text, &a) != 1)
		return parse_problem(p,
				     "%s: '%s' is not an address like 127.0.0.1",
				     what, text);
	*ip = ntohl(a.s_addr);
	return 0;
}

static int parse_nodes(char *text, struct fabric_udp_config *cfg,
		       const struct problem *p)
{
	char *dash = strchr(text, '-');
	long first, last;

	if (dash)
		*dash++ = '\0';
	first = parse_number(text, FABRIC_UDP_NODES - 1);
	last = dash ? parse_number(dash, FABRIC_UDP_NODES - 1) : first;
	if (first < 0 || last < 0)
		return parse_problem(p, "'%s' is not a node (0 to %d)",
				     first < 0 ? text : dash, FABRIC_UDP_NODES - 1);
	if (first > last)
		return parse_problem(p,
				     "nodes %ld-%ld: the smaller one goes first",
				     first, last);
	cfg->first = (uint8_t)first;
	cfg->last = (uint8_t)last;
	return 0;
}

int fabric_udp_parse(const char *text, struct fabric_udp_config *cfg,
		     char *error, size_t bytes)
{
	const struct problem p = { error, bytes };
	struct fabric_udp_config c;
	char local[80], *peer, *node;
	int err;

	if (strlen(text) >= sizeof(local))
		return parse_problem(&p, "too long (%s)", FORM);
	strcpy(local, text);
	peer = strchr(local, '/');
	node = peer ? strchr(peer + 1, '/') : NULL;
	if (!node || strchr(node + 1, '/'))
		return parse_problem(&p, "'%s' is not of the form %s", text,
				     FORM);
	*peer++ = '\0';
	*node++ = '\0';
	err = parse_place(local, "LOCAL", &c.local, &c.local_port, &p);
	if (!err)
		err = parse_place(peer, "PEER", &c.peer, &c.peer_port, &p);
	if (!err)
		err = parse_nodes(node, &c, &p);
	if (err)
		return err;
	if (!(c.peer >> 24) || c.peer >> 28 >= 14)
		return parse_problem(&p,
				     "PEER: %s is not one machine's address",
				     peer);
	if (c.local == c.peer && c.local_port == c.peer_port)
		return parse_problem(&p,
				     "LOCAL and PEER are the same (%s port %u)",
				     peer, c.peer_port);
	*cfg = c;
	return 0;
}
