// SPDX-License-Identifier: BSD-2-Clause
/* The text of the option --udp: what is good, and a sentence for what is not. */
#include <errno.h>
#include <string.h>

#include "fabric/fabric.h"
#include "harness.h"

static struct fabric_udp_config cfg;
static char error[160];

static int parse_udp(const char *text)
{
	STEP("--udp %s", text);
	memset(&cfg, 0x55, sizeof(cfg));
	error[0] = '\0';
	return fabric_udp_parse(text, &cfg, error, sizeof(error));
}

TEST("addresses, ports and nodes are read")
{
	EXPECT_EQ(parse_udp("127.0.0.1/127.0.0.2/3"), 0);
	EXPECT_EQ(cfg.local, 0x7F000001);
	EXPECT_EQ(cfg.peer, 0x7F000002);
	EXPECT_EQ(cfg.local_port, 4791);
	EXPECT_EQ(cfg.peer_port, 4791);
	EXPECT_EQ(cfg.first, 3);
	EXPECT_EQ(cfg.last, 3);
	EXPECT_EQ(parse_udp("0.0.0.0:1/192.168.255.4:65535/0-15"), 0);
	EXPECT_EQ(cfg.local, 0);
	EXPECT_EQ(cfg.peer, 0xC0A8FF04);
	EXPECT_EQ(cfg.local_port, 1);
	EXPECT_EQ(cfg.peer_port, 65535);
	EXPECT_EQ(cfg.first, 0);
	EXPECT_EQ(cfg.last, 15);
	EXPECT_EQ(parse_udp("127.0.0.1:5000/127.0.0.1:5001/7-7"), 0);
	EXPECT_EQ(cfg.local_port, 5000);
	EXPECT_EQ(cfg.peer_port, 5001);
}

TEST("each mistake gets its own sentence, and nothing is stored")
{
	static const struct {
		const char *text, *error;
	} bad[] = {
		{ "", "'' is not of the form LOCAL[:PORT]/PEER[:PORT]/NODE[-NODE]" },
		{ "1.2.3.4/1.2.3.5",
		  "'1.2.3.4/1.2.3.5' is not of the form LOCAL[:PORT]/PEER[:PORT]/NODE[-NODE]" },
		{ "1.2.3.4/1.2.3.5/1/2",
		  "'1.2.3.4/1.2.3.5/1/2' is not of the form LOCAL[:PORT]/PEER[:PORT]/NODE[-NODE]" },
		{ "/1.2.3.5/1", "LOCAL: '' is not an address like 127.0.0.1" },
		{ "1.2.3/1.2.3.5/1", "LOCAL: '1.2.3' is not an address like 127.0.0.1" },
		{ "1.2.3.4/localhost/1", "PEER: 'localhost' is not an address like 127.0.0.1" },
		{ "1.2.3.4/1.2.3.256/1", "PEER: '1.2.3.256' is not an address like 127.0.0.1" },
		{ "1.2.3.4/ 1.2.3.5/1", "PEER: ' 1.2.3.5' is not an address like 127.0.0.1" },
		{ "1.2.3.4:/1.2.3.5/1", "LOCAL: '' is not a port (1 to 65535)" },
		{ "1.2.3.4:0/1.2.3.5/1", "LOCAL: '0' is not a port (1 to 65535)" },
		{ "1.2.3.4/1.2.3.5:65536/1", "PEER: '65536' is not a port (1 to 65535)" },
		{ "1.2.3.4/1.2.3.5:-1/1", "PEER: '-1' is not a port (1 to 65535)" },
		{ "1.2.3.4/1.2.3.5:99999999999999999999/1",
		  "PEER: '99999999999999999999' is not a port (1 to 65535)" },
		{ "1.2.3.4/1.2.3.5:4791x/1", "PEER: '4791x' is not a port (1 to 65535)" },
		{ "1.2.3.4/1.2.3.5/", "'' is not a node (0 to 15)" },
		{ "1.2.3.4/1.2.3.5/16", "'16' is not a node (0 to 15)" },
		{ "1.2.3.4/1.2.3.5/2-", "'' is not a node (0 to 15)" },
		{ "1.2.3.4/1.2.3.5/2-3-4", "'3-4' is not a node (0 to 15)" },
		{ "1.2.3.4/1.2.3.5/5-3", "nodes 5-3: the smaller one goes first" },
		{ "1.2.3.4/0.0.0.0/5", "PEER: 0.0.0.0 is not one machine's address" },
		{ "1.2.3.4/224.0.0.1/5", "PEER: 224.0.0.1 is not one machine's address" },
		{ "1.2.3.4/1.2.3.4:4791/5",
		  "LOCAL and PEER are the same (1.2.3.4 port 4791)" },
		{ "1.2.3.4/1.2.3.5:000000000000000000000000000000000000000000000000004791/5"
		  "0000000000000000000",
		  "too long (LOCAL[:PORT]/PEER[:PORT]/NODE[-NODE])" },
	};
	struct fabric_udp_config was;
	unsigned int i;

	memset(&was, 0x55, sizeof(was));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_EQ(parse_udp(bad[i].text), -EINVAL);
		EXPECT_STR(error, bad[i].error);
		EXPECT_MEM(&cfg, &was, sizeof(cfg));
	}
}

TEST("a short place for the message is not run over")
{
	char small[8] = "1234567";

	EXPECT_EQ(fabric_udp_parse("x", &cfg, small, 4), -EINVAL);
	EXPECT_STR(small, "'x'");
	EXPECT_EQ(small[4], '5');
}
