#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --pcap: what Wireshark's dissector, which knows nothing of us, reads from the packets.
set -u
cd "$(dirname "$0")/../.."
tools/doctor --have tshark || exit 77
. tests/cmd/expect.inc

shark() { tshark -n "$@" 2> "$dir/shark.err"; }
count() { shark -r "$dir/p.pcapng" -Y "$1" | wc -l; }
events() { grep -c " $1 " "$dir/trace"; }

expect 0 passed 'a run with its packets' \
	"$fl" run --pcap "$dir/p.pcapng" --trace "$dir/trace" tests/scenario/write_cold.fl
expect 0 '' 'the same trace as without' sh -c "'$fl' run --trace '$dir/plain' \
	tests/scenario/write_cold.fl > /dev/null && cmp '$dir/plain' '$dir/trace'"
expect 0 '' 'every packet that leaves' \
	test "$(count 'frame.packet_flags_direction == 2')" = "$(events WIRE_SEND)"
expect 0 '' 'and every one that comes' \
	test "$(count 'frame.packet_flags_direction == 1')" = "$(events WIRE_RECV)"
expect 0 '' 'each is RoCEv2 for the dissector' test "$(count infiniband.bth)" = "$(count frame)"
expect 0 '' 'and none is malformed' test "$(count _ws.malformed)" = 0
shark -r "$dir/p.pcapng" -o ip.check_checksum:TRUE -Y 'ip.checksum.status != 1' > "$dir/bad"
expect 1 '' 'sums of IPv4 are right' test -s "$dir/bad"
expect 0 '' 'two interfaces, by the names of the boards' \
	test "$(shark -r "$dir/p.pcapng" -T fields -e frame.interface_name | sort -u | tr '\n' ' ')" = 'a b '
# Opcode, sender, receiver and time of each packet that leaves, as the trace has them.
shark -r "$dir/p.pcapng" -Y 'frame.packet_flags_direction == 2' -T fields \
	-e frame.time_epoch -e infiniband.bth.opcode -e ip.src -e ip.dst |
	awk '{ sub(/^[^.]*\./, "", $1); print $1 + 0, $2, $3, $4 }' > "$dir/shark"
awk '$4 == "WIRE_SEND" {
		split($3, who, "."); match($0, /opcode=[0-9]+/); op = substr($0, RSTART + 7, RLENGTH - 7)
		match($0, / to=[0-9]+/); to = substr($0, RSTART + 4, RLENGTH - 4)
		print $2 + 0, op, "10.0.0." who[1] + 1, "10.0.0." to + 1 }' "$dir/trace" > "$dir/ours"
expect 0 '' 'times, opcodes and addresses are those of the trace' cmp "$dir/shark" "$dir/ours"

for mode in threads processes; do
	expect 0 passed "mode $mode" \
		"$fl" run --mode $mode --pcap "$dir/p.pcapng" tests/scenario/write_resident_once.fl
	expect 0 '' "$mode: packets leave and come" test "$(count frame)" -gt 100
	expect 0 '' "$mode: each is RoCEv2" test "$(count infiniband.bth)" = "$(count frame)"
done

# A packet that is lost has left, and does not come.
# A reliable connection: nothing of ours is on the wire.
expect 0 passed 'packets of InfiniBand' "$fl" run --pcap "$dir/p.pcapng" --trace "$dir/trace" \
	tests/scenario/system_npf.fl
expect 0 '' 'each is RoCEv2, again' test "$(count infiniband.bth)" = "$(count frame)"
expect 0 '' 'none is malformed, or unknown' \
	test "$(count '_ws.malformed || infiniband.bth.opcode >= 192')" = 0
expect 0 '' 'its WRITEs name key, address and length' \
	test "$(count 'infiniband.bth.opcode == 6 && infiniband.reth.dmalen == 65536')" -ge 2
expect 0 '' 'its READs too' \
	test "$(count 'infiniband.bth.opcode == 12 && infiniband.reth.dmalen == 65536')" -ge 2
expect 0 '' 'who lacks a page says RNR NAK, as often as the trace says' \
	test "$(count 'frame.packet_flags_direction == 2 && infiniband.aeth.syndrome >= 32 && infiniband.aeth.syndrome < 64')" = "$(events RC_RNR)"

expect 0 passed 'datagrams' "$fl" run --pcap "$dir/p.pcapng" --trace "$dir/trace" \
	tests/scenario/system_backup.fl
expect 0 '' 'each is RoCEv2, once more' test "$(count infiniband.bth)" = "$(count frame)"
expect 0 '' 'none of them is malformed' test "$(count _ws.malformed)" = 0
expect 0 '' 'each has a datagram header, and the key' \
	test "$(count 'infiniband.deth && infiniband.deth.q_key == 0x11111111')" = "$(count frame)"
expect 0 '' 'with and without immediate data' \
	test "$(count 'infiniband.bth.opcode == 101 && infiniband.immdt')" -gt 0

sed 's/^link a b$/&\ndrop a -> b first 1/' book/pictures/cold.fl > "$dir/lossy.fl"
expect 0 passed 'a run that loses one packet' "$fl" run --pcap "$dir/p.pcapng" \
	--trace "$dir/trace" "$dir/lossy.fl"
expect 0 '' 'it has left, and has not come' test $(($(count 'frame.packet_flags_direction == 2') - \
	$(count 'frame.packet_flags_direction == 1'))) = 1

expect 2 'cannot write the packets to /nonexistent/p: No such file' 'a folder that is not there' \
	"$fl" run --pcap /nonexistent/p tests/scenario/write_resident_once.fl
expect 1 'cannot write the packets to /dev/full' 'a disk that is full' \
	"$fl" run --pcap /dev/full tests/scenario/write_resident_once.fl
expect 2 '--pcap' 'no file' "$fl" run --pcap

echo "1..$n"
exit $bad
