#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The card's way to Ethernet: its frames, as they leave the Verilog, for Wireshark's dissector,
# which knows nothing of us. And what its timing constraints name is there.
set -u
cd "$(dirname "$0")/../.." || exit 2
tools/doctor --have iverilog tshark text2pcap yosys yosys-abc || exit 77
. tests/cmd/expect.inc

shark() { tshark -n -r "$dir/eth.pcap" "$@" 2> "$dir/shark.err"; }
count() { shark -Y "$1" | wc -l; }

expect 0 'PASS tb_eth:' 'the bench' env FRAMES="$dir/frames" rtl/tb/run tb_eth
frames=$(wc -l < "$dir/frames")
text2pcap -q "$dir/frames" "$dir/eth.pcap" 2> "$dir/shark.err"
expect 0 '' 'many frames' test "$frames" -gt 500
expect 0 '' 'each of them is RoCEv2' test "$(count 'udp.dstport == 4791 && infiniband.bth')" = "$frames"
expect 0 '' 'none is malformed' test "$(count _ws.malformed)" = 0
shark -o ip.check_checksum:TRUE -Y 'ip.checksum.status != 1' > "$dir/bad"
expect 1 '' 'sums of IPv4 are right' test -s "$dir/bad"
expect 0 '' 'no frame is shorter than Ethernet allows' test "$(count 'frame.len < 60')" = 0
expect 0 '' 'lengths of IP and UDP agree' test "$(shark -T fields -e ip.len -e udp.length |
	awk '$1 == $2 + 20' | wc -l)" = "$frames"
expect 0 '' 'two tables of addresses' \
	test "$(shark -T fields -e eth.src -e ip.src | sort -u | tr '\t\n' '  ')" = \
	'02:00:00:00:00:05 10.0.0.6 0a:a0:b6:6d:3a:04 192.168.234.235 '

# What a file of constraints names: registers of its module, and pins of its memories.
names() {	# MODULE
	grep -o '[a-z_]*_reg\b' "rtl/zu/$1.xdc" | sed 's/_reg$//' | sort -u
}
for m in fl_afifo fl_acount; do
	for r in $(names $m); do
		expect 0 '' "$m.xdc: $r is a register" \
			grep -qE "^	(\(\* ASYNC_REG = \"TRUE\" \*\) )?reg .*\b$r\b" "rtl/zu/$m.v"
	done
	for r in $(sed -n 's/^	(\* ASYNC_REG.*\b\([a-z_]*_meta\).*/\1/p' "rtl/zu/$m.v"); do
		expect 0 '' "$m.xdc: the way to $r is bounded" grep -q "to.*{$r""_reg" "rtl/zu/$m.xdc"
	done
done
# The proof of the crossings finds what is planted.
crosses() {	# WHAT CHANGE
	sed "$2" rtl/zu/fl_afifo.v > "$dir/fl_afifo.v"
	expect 1 'All = 5. Proved = 3' "the proof finds $1" rtl/formal/cross "$dir/fl_afifo.v"
}
crosses "numbers that are not in Gray code" \
	's/gray = n ^ {.*/gray = n;/; s/binary\[i\] = ^(g >> i);/binary[i] = g[i];/'
crosses "the answer to an older reset" 's/(w_sees || (w_ask && w_acked))/(w_sees || w_acked)/'
echo "1..$n"
exit $bad
