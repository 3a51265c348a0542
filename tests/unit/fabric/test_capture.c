// SPDX-License-Identifier: BSD-2-Clause
/* Packets in a file, read again by a reader that knows pcapng and nothing of the writer. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/capture.h"
#include "harness.h"
#include "nic/wire.h"

#define MOST (4u << 20)

static struct {
	uint8_t *bytes;
	uint32_t used, at;
	char name[4][80];
	unsigned int names;
} file;

static char file_path[256];

static uint32_t get_le32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

static uint32_t get_be(const uint8_t *p, unsigned int n)
{
	uint32_t v = 0;

	while (n--)
		v = v << 8 | *p++;
	return v;
}

/* The machines that the tests run on are little-endian. */
static void file_read(void)
{
	FILE *f = fopen(file_path, "r");

	EXPECT(f);
	free(file.bytes);
	memset(&file, 0, sizeof(file));
	file.bytes = malloc(MOST);
	file.used = (uint32_t)fread(file.bytes, 1, MOST, f);
	fclose(f);
	EXPECT_GE(file.used, 28);
	EXPECT_EQ(get_le32(file.bytes), 0x0A0D0D0A);
	EXPECT_EQ(get_le32(file.bytes + 8), 0x1A2B3C4D);
	EXPECT_EQ(get_le32(file.bytes + 12), 1);		/* 1.0 */
}

struct packet {
	uint32_t interface, len, flags;
	uint64_t ns;
	const uint8_t *bytes;
};

/* Value of an option, or NULL; each ends at four bytes. */
static const uint8_t *option_find(const uint8_t *p, const uint8_t *end,
				  uint32_t code, uint32_t *n)
{
	while (end - p >= 4) {
		uint32_t is = get_le32(p) & 0xFFFF;

		*n = get_le32(p) >> 16;
		if (is == code)
			return p + 4;
		if (!is)
			return NULL;
		p += 4 + ((*n + 3) & ~3u);
	}
	return NULL;
}

/* The next packet; false: the file is at its end. Interfaces are remembered. */
static bool packet_next(struct packet *p)
{
	const uint8_t *b, *o;
	uint32_t n, all;

	for (;; file.at += all) {
		if (file.at == file.used)
			return false;
		EXPECT_GE(file.used - file.at, 12);
		b = file.bytes + file.at;
		all = get_le32(b + 4);
		EXPECT_EQ(all % 4, 0);
		EXPECT_GE(file.used - file.at, all);
		EXPECT_EQ(get_le32(b + all - 4), all);
		if (get_le32(b) == 1) {
			EXPECT_EQ(get_le32(b + 8), 1);	/* Ethernet */
			EXPECT_EQ(get_le32(b + 12), 0);	/* packets are whole */
			o = option_find(b + 16, b + all - 4, 9, &n);
			EXPECT(o && n == 1 && *o == 9);	/* nanoseconds */
			o = option_find(b + 16, b + all - 4, 2, &n);
			EXPECT(o && n < sizeof(file.name[0]));
			memcpy(file.name[file.names++], o, n);
		} else if (get_le32(b) == 6) {
			break;
		}
	}
	p->interface = get_le32(b + 8);
	EXPECT(p->interface < file.names);
	p->ns = (uint64_t)get_le32(b + 12) << 32 | get_le32(b + 16);
	p->len = get_le32(b + 20);
	EXPECT_EQ(get_le32(b + 24), p->len);
	EXPECT_GE(all, 32 + p->len);
	p->bytes = b + 28;
	o = option_find(p->bytes + ((p->len + 3) & ~3u), b + all - 4, 2, &n);
	EXPECT(o && n == 4);
	p->flags = get_le32(o);
	file.at += all;
	return true;
}

static struct wire_frame *frame_make(uint8_t from, uint8_t to, uint32_t payload)
{
	static struct wire_frame f;
	struct wire_block b = { .opcode = WOP_WRITE, .len = payload,
				.payload_len = payload };
	uint32_t i;

	memset(&f, 0, sizeof(f));
	f.from = from;
	f.to = to;
	for (i = 0; i < payload; i++)
		wire_payload(&f)[i] = (uint8_t)(i * 7 + from);
	wire_put_block(&f, &b, true);
	return &f;
}

/* Ethernet, IPv4 and UDP, by their documents. */
static void check_network(const struct packet *p, const struct wire_frame *f)
{
	const uint8_t *ip = p->bytes + 14, *udp = ip + 20;
	uint32_t sum = 0, i;

	EXPECT_EQ(p->len, 42 + f->len);
	EXPECT_EQ(get_be(p->bytes + 12, 2), 0x0800);
	EXPECT_EQ(p->bytes[0] & 3, 2);
	EXPECT_EQ(p->bytes[5], f->to);
	EXPECT_EQ(p->bytes[11], f->from);
	EXPECT_EQ(ip[0], 0x45);
	EXPECT_EQ(get_be(ip + 2, 2), 28 + f->len);
	EXPECT_GE(ip[8], 1);
	EXPECT_EQ(ip[9], 17);
	for (i = 0; i < 20; i += 2)
		sum += get_be(ip + i, 2);
	EXPECT_EQ((sum & 0xFFFF) + (sum >> 16), 0xFFFF);
	EXPECT_EQ(get_be(ip + 12, 4), 0x0A000001u + f->from);
	EXPECT_EQ(get_be(ip + 16, 4), 0x0A000001u + f->to);
	EXPECT_EQ(get_be(udp, 2), 0xC000 + f->from);
	EXPECT_EQ(get_be(udp + 2, 2), 4791);
	EXPECT_EQ(get_be(udp + 4, 2), 8 + f->len);
	EXPECT_MEM(udp + 8, f->bytes, f->len);
}

TEST("packets of any length come back, with time, interface and direction")
{
	struct capture *c;
	struct packet p;
	uint32_t n;
	int err;

	test_path(file_path, sizeof(file_path), "packets.pcapng");
	c = capture_open(file_path, &err);
	EXPECT(c);
	capture_board(c, 3, "a");
	capture_board(c, 0, "a board with a long name");
	for (n = 0; n <= 4096; n = n < 9 ? n + 1 : n * 2 + 5) {
		capture_frame(c, 3, true, frame_make(3, 0, n), 5000000000ull + n);
		capture_frame(c, 0, false, frame_make(3, 0, n), 5000000100ull + n);
		/* Nobody has named this one. */
		capture_frame(c, 9, false, frame_make(3, 9, n), 1);
	}
	EXPECT_EQ(capture_close(c), 0);
	file_read();
	for (n = 0; n <= 4096; n = n < 9 ? n + 1 : n * 2 + 5) {
		EXPECT(packet_next(&p));
		EXPECT_EQ(p.interface, 0);
		EXPECT_EQ(p.flags, 2);
		EXPECT_EQ(p.ns, 5000000000ull + n);
		check_network(&p, frame_make(3, 0, n));
		EXPECT(packet_next(&p));
		EXPECT_EQ(p.interface, 1);
		EXPECT_EQ(p.flags, 1);
		EXPECT_EQ(p.ns, 5000000100ull + n);
		check_network(&p, frame_make(3, 0, n));
	}
	EXPECT(!packet_next(&p));
	EXPECT_STR(file.name[0], "a");
	EXPECT_STR(file.name[1], "a board with a long name");
}

TEST("a board may have any name, and the file stays one")
{
	struct capture *c;
	struct packet p;
	char name[300];
	int err;

	test_path(file_path, sizeof(file_path), "packets.pcapng");
	c = capture_open(file_path, &err);
	EXPECT(c);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	capture_board(c, 0, name);
	capture_board(c, 1, "");
	capture_frame(c, 1, false, frame_make(0, 1, 64), 1);
	EXPECT_EQ(capture_close(c), 0);
	file_read();
	EXPECT(packet_next(&p));
	EXPECT_EQ(p.interface, 1);
	EXPECT_EQ(strlen(file.name[0]), 64);
	EXPECT(!packet_next(&p));
}

struct writer {
	struct capture *c;
	uint8_t node;
};

static void *writer_main(void *arg)
{
	struct writer *w = arg;
	struct wire_frame f = { .from = w->node, .to = (uint8_t)!w->node };
	struct wire_block b = { .opcode = WOP_WRITE, .len = 256, .payload_len = 256 };
	uint32_t i;

	for (i = 0; i < 2000; i++) {
		memset(wire_payload(&f), w->node + 1, 256);
		b.offset = i;
		wire_put_block(&f, &b, true);
		capture_frame(w->c, w->node, true, &f, i);
	}
	return NULL;
}

TEST("what several threads write does not mix")
{
	struct writer w[2] = { { .node = 0 }, { .node = 1 } };
	uint32_t seen[2] = { 0 }, i;
	struct packet p;
	pthread_t t[2];
	int err;

	test_path(file_path, sizeof(file_path), "packets.pcapng");
	w[0].c = w[1].c = capture_open(file_path, &err);
	EXPECT(w[0].c);
	for (i = 0; i < 2; i++)
		capture_board(w[i].c, w[i].node, i ? "b" : "a");
	for (i = 0; i < 2; i++)
		EXPECT_EQ(pthread_create(&t[i], NULL, writer_main, &w[i]), 0);
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	EXPECT_EQ(capture_close(w[0].c), 0);
	file_read();
	while (packet_next(&p)) {
		EXPECT_EQ(p.ns, seen[p.interface]++);
		for (i = 0; i < 256; i++)
			EXPECT_EQ(p.bytes[p.len - 4 - 256 + i], p.interface + 1);
	}
	EXPECT_EQ(seen[0], 2000);
	EXPECT_EQ(seen[1], 2000);
}

TEST("a file that cannot be made or written is told")
{
	struct capture *c;
	int err = 0, i;

	EXPECT(!capture_open("/nonexistent/packets", &err));
	EXPECT_EQ(err, -ENOENT);
	EXPECT_EQ(capture_close(NULL), 0);
	c = capture_open("/dev/full", &err);
	EXPECT(c);
	capture_board(c, 0, "a");
	for (i = 0; i < 100; i++)
		capture_frame(c, 0, true, frame_make(0, 1, 4096), 1);
	EXPECT(capture_close(c) < 0);
}
