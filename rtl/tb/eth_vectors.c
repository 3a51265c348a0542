// SPDX-License-Identifier: BSD-2-Clause
/*
 * eth_vectors - packets and the Ethernet frames that carry them, for tb_eth.
 *
 * Packets, and with the table of addresses that is there after reset the frames too, are
 * the emulator's (emu/nic/wire.c, wire_network()). With other addresses the frame and its
 * ICRC are put together here, a bit at a time, as InfiniBand 7.8.1 and annex A17 say.
 * Which frames are refused, and why, frame_judge() says, which reads bytes alone.
 *
 * Prints bytes for $readmemh: records of a header (put_record()), packet and frame; a byte
 * of 255 is behind the last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nic/engine.h"
#include "nic/wire.h"

#define NODE	5
#define TABLES	2		/* of addresses: as after reset, others */
#define ETHERNET 14
#define HEADERS	(ETHERNET + WIRE_NETWORK_BYTES)
#define FRAME_MIN 60
#define FRAME_LONG 5000		/* bytes of the longest, more than anyone takes */
#define BYTES	(1 << 19)	/* in all, as in tb_eth.v */

enum { OUT, IN, END = 255 };	/* of a record: which way */

/* What becomes of a frame: as the counters of fl_zu_eth, from 2 on. */
enum verdict {
	CAME = 2, OTHER, HEADER, SUM, LENGTH, UNKNOWN, BAD, LONG, VERDICTS
};

struct frame {
	bool bad;		/* the MAC says so */
	unsigned int len;
	uint8_t bytes[FRAME_LONG];
};

static uint64_t state = 7;
static unsigned int total, seen[VERDICTS];

static uint32_t random_below(uint32_t below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((state >> 16) % below);
}

static void byte_put(unsigned int value)
{
	printf("%02x%c", value & 0xFF, ++total % 24 ? ' ' : '\n');
}

static uint32_t number_get(const uint8_t *p, unsigned int bytes)
{
	uint32_t v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

static void number_put(uint8_t *p, unsigned int bytes, uint32_t v)
{
	while (bytes--) {
		p[bytes] = (uint8_t)v;
		v >>= 8;
	}
}

/* ---- addresses ---- */

/* As tb_eth.v writes them; table 1 lacks node 9. */
static uint32_t table_ip(int table, unsigned int node)
{
	if (!table)
		return 0x0A000001u + node;
	return node == 9 ? 0 : 0xC0A8FE00u - 977 * node;
}

static void table_mac(int table, unsigned int node, uint8_t mac[6])
{
	number_put(mac, 2, table ? 0x00A0u + 512 * node : 0x0200u);
	number_put(mac + 2, 4, table ? 0xC9123456u * (node + 1) : node);
}

/* ---- what stands in a frame ---- */

static uint32_t bit_crc(uint32_t crc, const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < 8 * n; i++)
		crc = crc >> 1 ^ ((crc ^ p[i / 8] >> i % 8) & 1 ? 0xEDB88320u : 0);
	return crc;
}

/* Of a frame: over all from IPv4 on, with ones for what may change on the way. */
static uint32_t frame_icrc(const struct frame *f, unsigned int packet_len)
{
	uint8_t b[8 + WIRE_NETWORK_BYTES + WIRE_FRAME_MAX], *ip = b + 8;
	unsigned int n = WIRE_NETWORK_BYTES + packet_len - 4;

	memset(b, 0xFF, 8);
	memcpy(ip, f->bytes + ETHERNET, n);
	ip[1] = ip[8] = ip[10] = ip[11] = 0xFF;	/* service, time to live, sum */
	ip[26] = ip[27] = 0xFF;			/* sum of UDP */
	ip[WIRE_NETWORK_BYTES + 4] = 0xFF;	/* congestion, in BTH */
	return ~bit_crc(0xFFFFFFFFu, b, 8 + n);
}

/* RFC 791; 0 if it is right. */
static unsigned int ip_sum(const uint8_t *ip, unsigned int bytes)
{
	uint32_t sum = 0;
	unsigned int i;

	for (i = 0; i < bytes; i += 2)
		sum += number_get(ip + i, 2);
	while (sum >> 16)
		sum = (sum & 0xFFFF) + (sum >> 16);
	return ~sum & 0xFFFF;
}

static void ip_sign(uint8_t *ip)
{
	number_put(ip + 10, 2, 0);
	number_put(ip + 10, 2, ip_sum(ip, 20));
}

static void icrc_sign(struct frame *f, unsigned int packet_len)
{
	uint32_t crc = frame_icrc(f, packet_len);
	unsigned int i;

	for (i = 0; i < 4; i++)
		f->bytes[HEADERS + packet_len - 4 + i] = (uint8_t)(crc >> 8 * i);
}

/* The frame of a packet, as table has it. */
static void frame_make(struct frame *f, const struct wire_frame *w, int table)
{
	uint8_t *ip = f->bytes + ETHERNET;
	uint32_t icrc;

	memset(f->bytes, 0, FRAME_MIN);
	f->bad = false;
	f->len = HEADERS + w->len < FRAME_MIN ? FRAME_MIN : HEADERS + w->len;
	table_mac(table, w->to, f->bytes);
	table_mac(table, w->from, f->bytes + 6);
	number_put(f->bytes + 12, 2, 0x0800);
	wire_network(w, ip, 0);
	ip[8] = 64;
	number_put(ip + 12, 4, table_ip(table, w->from));
	number_put(ip + 16, 4, table_ip(table, w->to));
	ip_sign(ip);
	memcpy(f->bytes + HEADERS, w->bytes, w->len);
	if (table)
		icrc_sign(f, w->len);
	icrc = frame_icrc(f, w->len);
	for (unsigned int i = 0; i < 4; i++)
		if (f->bytes[HEADERS + w->len - 4 + i] != (uint8_t)(icrc >> 8 * i))
			abort();	/* not what the emulator says */
}

static enum verdict frame_judge(const struct frame *f, int table, uint8_t *from)
{
	const uint8_t *ip = f->bytes + ETHERNET, *udp = ip + 20;
	unsigned int ip_len = number_get(ip + 2, 2);
	uint8_t mac[6];

	if (f->len > HEADERS + WIRE_FRAME_MAX)
		return LONG;
	if (f->bad || f->len < FRAME_MIN)
		return BAD;
	table_mac(table, NODE, mac);
	if (memcmp(f->bytes, mac, 6) || number_get(f->bytes + 12, 2) != 0x0800 ||
	    ip[0] >> 4 != 4 || number_get(ip + 16, 4) != table_ip(table, NODE) || ip[9] != 17)
		return OTHER;
	if ((ip[0] & 15) != 5 || number_get(ip + 6, 2) & 0x3FFF)
		return HEADER;
	if (ip_sum(ip, 20))
		return SUM;
	if (number_get(udp + 2, 2) != 4791)
		return OTHER;
	if (ip_len < WIRE_NETWORK_BYTES + 16 || ip_len > WIRE_NETWORK_BYTES + WIRE_FRAME_MAX ||
	    ETHERNET + ip_len > f->len || number_get(udp + 4, 2) + 20 != ip_len)
		return LENGTH;
	for (*from = 0; *from < ENGINE_RTL_NODES; ++*from)
		if (table_ip(table, *from) && table_ip(table, *from) == number_get(ip + 12, 4))
			return CAME;
	return UNKNOWN;
}

/* ---- packets ---- */

static void random_packet(struct wire_frame *w, uint32_t payload_len, bool answer)
{
	struct wire_block b = {
		.opcode = WOP_WRITE, .dest_qp = random_below(1 << 24),
		.psn = random_below(1 << 24), .ctx = (uint8_t)random_below(256),
		.gen = (uint16_t)random_below(1 << 16), .va = random_below(1u << 31),
		.len = random_below(1 << 16), .rkey = random_below(1u << 31),
		.payload_len = payload_len,
	};
	struct wire_answer a = {
		.opcode = WOP_REFUSED, .dest_qp = random_below(1 << 24),
		.ctx = (uint8_t)random_below(256), .map = random_below(1u << 31),
	};
	unsigned int i;

	for (i = 0; i < payload_len; i++)
		wire_payload(w)[i] = (uint8_t)random_below(256);
	if (answer)
		wire_put_answer(w, &a, true);
	else
		wire_put_block(w, &b, true);
}

/* BTH, a few bytes and the ICRC: no packet of the engine's, for the padding of Ethernet. */
static void short_packet(struct wire_frame *w, unsigned int bytes)
{
	wire_put_bth(w, WOP_ACK, random_below(1 << 24), 0);
	for (unsigned int i = 0; i < bytes; i++)
		w->bytes[WIRE_BTH_BYTES + i] = (uint8_t)random_below(256);
	w->len = WIRE_BTH_BYTES + bytes + WIRE_ICRC_BYTES;
	wire_seal(w, true);
}

static void packet_make(struct wire_frame *w, unsigned int n)
{
	if (n % 10 == 3)
		random_packet(w, 0, true);
	else if (n % 10 == 7)
		short_packet(w, n / 10 % 20);
	else if (n % 80 == 25)
		random_packet(w, 4096, false);
	else
		random_packet(w, 1 + random_below(n % 10 ? 80 : 1000), false);
}

/* ---- damage ---- */

/* In IPv4 or UDP, to something that is not good. */
static void headers_damage(struct frame *f)
{
	uint8_t *ip = f->bytes + ETHERNET, *udp = ip + 20;

	switch (random_below(10)) {
	case 0:		/* another version, options */
		ip[0] = (uint8_t)(random_below(2) ? 0x65 : 0x40 + random_below(16));
		break;
	case 1:		/* a fragment: more will come, or it is not the first */
		number_put(ip + 6, 2, random_below(2) ? 0x2000 : 1 + random_below(0x1FFF));
		break;
	case 2:
		ip[9] = (uint8_t)random_below(256);
		break;
	case 3:		/* a bit of an address */
		ip[12 + random_below(8)] ^= (uint8_t)(1 << random_below(8));
		break;
	case 4:
		number_put(udp + 2, 2, 4791 ^ 1u << random_below(16));
		break;
	case 5:		/* longer than the frame, or too short */
		number_put(ip + 2, 2, number_get(ip + 2, 2) + 1 + random_below(60));
		break;
	case 6:
		number_put(ip + 2, 2, random_below(48));
		number_put(udp + 4, 2, number_get(ip + 2, 2) - 20);
		break;
	case 7:
		number_put(udp + 4, 2, number_get(udp + 4, 2) ^ 1u << random_below(16));
		break;
	default:	/* any bit, and the sum is not made anew */
		ip[random_below(20)] ^= (uint8_t)(1 << random_below(8));
		return;
	}
	ip_sign(ip);
}

static void frame_damage(struct frame *f)
{
	unsigned int i, len;

	switch (random_below(8)) {
	case 0:		/* for another card, of another kind */
		f->bytes[random_below(6)] ^= (uint8_t)(1 << random_below(8));
		break;
	case 1:
		number_put(f->bytes + 12, 2, random_below(2) ? 0x0806 : random_below(0x10000));
		break;
	case 2:		/* cut */
		f->len = 1 + random_below(f->len);
		break;
	case 3:
		f->bad = true;
		break;
	case 4:		/* longer than anyone takes, or as long as may be */
		if (random_below(3))
			break;
		len = random_below(3) ? HEADERS + WIRE_FRAME_MAX + random_below(3) :
		      4300 + random_below(700);
		for (i = f->len; i < len; i++)
			f->bytes[i] = (uint8_t)i;
		f->len = len;
		break;
	default:
		headers_damage(f);
		break;
	}
}

/* Good, and not as we would send it: a receiver takes it. */
static void frame_vary(struct frame *f, unsigned int packet_len)
{
	uint8_t *ip = f->bytes + ETHERNET;

	ip[1] = (uint8_t)random_below(256);		/* service, congestion */
	number_put(ip + 4, 2, random_below(0x10000));	/* identification */
	ip[6] = (uint8_t)(random_below(2) * 0x40);	/* may be fragmented */
	ip[8] = (uint8_t)(1 + random_below(255));	/* time to live */
	ip_sign(ip);
	number_put(ip + 20, 2, random_below(0x10000));	/* port of the sender */
	number_put(ip + 26, 2, random_below(0x10000));	/* a sum of UDP */
	f->bytes[HEADERS + 4] ^= 0x40;			/* congestion, in BTH */
	icrc_sign(f, packet_len);
	if (!random_below(3))		/* padding that nobody needs */
		f->len += random_below(30);
}

/* ---- records ---- */

static void put_record(int way, int table, enum verdict v, const struct wire_frame *w,
		       const struct frame *f)
{
	const uint8_t head[] = {
		(uint8_t)way, (uint8_t)v, (uint8_t)table, w->from, w->to, f->bad,
		(uint8_t)(w->len >> 8), (uint8_t)w->len, (uint8_t)(f->len >> 8), (uint8_t)f->len,
	};
	unsigned int i;

	for (i = 0; i < sizeof(head); i++)
		byte_put(head[i]);
	for (i = 0; i < w->len; i++)
		byte_put(w->bytes[i]);
	for (i = 0; i < f->len; i++)
		byte_put(f->bytes[i]);
}

/*
 * What the engine gets of a good frame: BTH to ICRC as the frame has them, but the ICRC that
 * the engine computes, changed by the bits that were wrong with the frame's.
 */
static void packet_read(struct wire_frame *w, const struct frame *f)
{
	unsigned int i;
	uint32_t wrong;

	w->len = number_get(f->bytes + ETHERNET + 24, 2) - 8;
	memcpy(w->bytes, f->bytes + HEADERS, w->len);
	wrong = frame_icrc(f, w->len);
	for (i = 0; i < 4; i++)
		wrong ^= (uint32_t)w->bytes[w->len - 4 + i] << 8 * i;
	wire_icrc_write(w);
	for (i = 0; i < 4; i++)
		w->bytes[w->len - 4 + i] ^= (uint8_t)(wrong >> 8 * i);
}

static void frames_in(int table, unsigned int count)
{
	static struct wire_frame w;
	static struct frame f;
	enum verdict v;
	unsigned int n;

	for (n = 0; n < count; n++) {
		w.to = NODE;
		do
			w.from = (uint8_t)random_below(ENGINE_RTL_NODES);
		while (!table_ip(table, w.from));
		packet_make(&w, n);
		frame_make(&f, &w, table);
		if (n % 4 == 1)
			frame_vary(&f, w.len);
		if (n % 8 == 4)		/* the engine will see it */
			f.bytes[HEADERS + random_below(w.len)] ^= (uint8_t)(1 << random_below(8));
		if (n % 2)
			frame_damage(&f);
		v = frame_judge(&f, table, &w.from);
		seen[v]++;
		if (v == CAME)
			packet_read(&w, &f);
		put_record(IN, table, v, &w, &f);
	}
}

static void frames_out(int table, unsigned int count)
{
	static struct wire_frame w;
	static struct frame f;
	unsigned int n;

	for (n = 0; n < count; n++) {
		w.from = NODE;
		do
			w.to = (uint8_t)random_below(ENGINE_RTL_NODES);
		while (!table_ip(table, w.to));
		packet_make(&w, n);
		frame_make(&f, &w, table);
		put_record(OUT, table, CAME, &w, &f);
	}
}

int main(void)
{
	int table, v;

	for (table = 0; table < TABLES; table++) {
		frames_out(table, 80);
		frames_in(table, 240);
	}
	for (v = CAME; v < VERDICTS; v++)
		if (seen[v] < 3)
			return 1;	/* these frames do not show it */
	if (total >= BYTES)
		return 1;
	while (total < BYTES)
		byte_put(END);
	return 0;
}
