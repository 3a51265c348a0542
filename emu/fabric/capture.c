// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture.c - pcapng. Blocks are written in the byte order of this machine, which the
 * first one tells; each with one call, so that those of several threads do not mix.
 */
#include "fabric/capture.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nic/wire.h"

#define BLOCK_SECTION	0x0A0D0D0Au
#define BLOCK_INTERFACE	1u
#define BLOCK_PACKET	6u	/* enhanced packet block */
#define BYTE_ORDER_MAGIC 0x1A2B3C4Du
#define LINK_ETHERNET	1u
#define ETHERNET_BYTES	14u
#define NAME_MAX_BYTES	64u

/* Options of blocks; the last two by block. */
enum { OPT_END, OPT_NAME = 2, OPT_FLAGS = 2, OPT_APPLICATION = 4, OPT_TSRESOL = 9 };

struct capture {
	FILE *file;
	int16_t interface[WIRE_NODES];	/* number; -1: none */
	int16_t interfaces;
};

/* A block that is being put together. */
struct block {
	uint32_t used;
	uint8_t bytes[WIRE_FRAME_MAX + ETHERNET_BYTES + WIRE_NETWORK_BYTES + 160];
};

static void block_put(struct block *b, const void *data, uint32_t n)
{
	assert(n <= sizeof(b->bytes) - b->used);
	memcpy(b->bytes + b->used, data, n);
	b->used += n;
}

static void block_put16(struct block *b, uint16_t v)
{
	block_put(b, &v, 2);
}

static void block_put32(struct block *b, uint32_t v)
{
	block_put(b, &v, 4);
}

static void block_pad(struct block *b)
{
	block_put(b, "\0\0\0", -b->used & 3);
}

static void block_option(struct block *b, uint16_t code, const void *data,
			 uint16_t n)
{
	block_put16(b, code);
	block_put16(b, n);
	block_put(b, data, n);
	block_pad(b);
}

static void block_begin(struct block *b, uint32_t type)
{
	b->used = 0;
	block_put32(b, type);
	block_put32(b, 0);	/* length: block_end() */
}

/* An error stays with the file: capture_close() tells it. */
static void block_end(struct block *b, FILE *f)
{
	uint32_t all;

	block_option(b, OPT_END, "", 0);
	all = b->used + 4;
	memcpy(b->bytes + 4, &all, 4);
	block_put32(b, all);
	fwrite(b->bytes, 1, b->used, f);
}

static void put_section(FILE *f)
{
	static const char application[] = "Faultline";
	struct block b;

	block_begin(&b, BLOCK_SECTION);
	block_put32(&b, BYTE_ORDER_MAGIC);
	block_put16(&b, 1);			/* version 1.0 */
	block_put16(&b, 0);
	block_put32(&b, UINT32_MAX);		/* length of the section: not known */
	block_put32(&b, UINT32_MAX);
	block_option(&b, OPT_APPLICATION, application, sizeof(application) - 1);
	block_end(&b, f);
}

struct capture *capture_open(const char *path, int *error)
{
	struct capture *c = malloc(sizeof(*c));

	*error = -ENOMEM;
	if (!c)
		return NULL;
	*c = (struct capture){ .file = fopen(path, "w") };
	if (!c->file) {
		*error = -errno;
		free(c);
		return NULL;
	}
	memset(c->interface, -1, sizeof(c->interface));
	put_section(c->file);
	*error = 0;
	return c;
}

int capture_close(struct capture *c)
{
	int err = 0;

	if (!c)
		return 0;
	if (ferror(c->file))
		err = -EIO;
	if (fclose(c->file))
		err = -errno;
	free(c);
	return err;
}

void capture_board(struct capture *c, uint8_t node, const char *name)
{
	const uint8_t nanoseconds = 9;
	size_t n = strlen(name);
	struct block b;

	assert(node < WIRE_NODES && c->interface[node] < 0);
	c->interface[node] = c->interfaces++;
	block_begin(&b, BLOCK_INTERFACE);
	block_put16(&b, LINK_ETHERNET);
	block_put16(&b, 0);
	block_put32(&b, 0);			/* packets are whole */
	block_option(&b, OPT_NAME, name,
		     (uint16_t)(n > NAME_MAX_BYTES ? NAME_MAX_BYTES : n));
	block_option(&b, OPT_TSRESOL, &nanoseconds, 1);
	block_end(&b, c->file);
}

/* RFC 791: the complement of the sum of all 16-bit words. */
static void set_checksum(uint8_t ip[20])
{
	uint32_t sum = 0;
	int i;

	for (i = 0; i < 20; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xFFFF) + (sum >> 16);
	sum = ~((sum & 0xFFFF) + (sum >> 16));
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

static void put_network(struct block *b, const struct wire_frame *f)
{
	/* Addresses that nobody else is given: bit 1 of the first byte. */
	const uint8_t ethernet[ETHERNET_BYTES] = {
		2, 0, 0, 0, 0, f->to, 2, 0, 0, 0, 0, f->from, 0x08, 0x00 };
	uint8_t ip[WIRE_NETWORK_BYTES];

	wire_network(f, ip, 0);
	ip[8] = 64;				/* time to live */
	set_checksum(ip);			/* of UDP: 0, none */
	block_put(b, ethernet, sizeof(ethernet));
	block_put(b, ip, sizeof(ip));
}

void capture_frame(struct capture *c, uint8_t node, bool leaves,
		   const struct wire_frame *f, uint64_t ns)
{
	const uint32_t flags = leaves ? 2 : 1;	/* outbound, inbound */
	uint32_t bytes = ETHERNET_BYTES + WIRE_NETWORK_BYTES + f->len;
	struct block b;

	if (c->interface[node] < 0)
		return;
	block_begin(&b, BLOCK_PACKET);
	block_put32(&b, (uint32_t)c->interface[node]);
	block_put32(&b, (uint32_t)(ns >> 32));
	block_put32(&b, (uint32_t)ns);
	block_put32(&b, bytes);			/* captured, and on the wire */
	block_put32(&b, bytes);
	put_network(&b, f);
	block_put(&b, f->bytes, f->len);
	block_pad(&b);
	block_option(&b, OPT_FLAGS, &flags, sizeof(flags));
	block_end(&b, c->file);
}
