#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The generator refuses a single source that contradicts itself, and says where.
# Each case changes one source with sed and builds the generator on the result.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d "${TMPDIR:-/tmp}/faultline-gen.XXXXXX")
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}
flags="-std=gnu11 -O0 -w"
contract=kernel-ref/include/faultline
count=0
bad=0

for c in tools/gen/*.c; do
	$cc $flags -I. -Iemu -Ikernel-ref/include -c -o \
		"$work/$(basename "$c" .c).o" "$c"
done

# refuses WRITER SOURCE SED TEXT: WRITER.c on the changed SOURCE ends with TEXT
refuses() {
	local inc=${2#kernel-ref/include/} object=$work/$1.o ok="not ok"
	inc=${inc#emu/}
	count=$((count + 1))
	mkdir -p "$work/inc/$(dirname "$inc")"
	sed -e "$3" "$2" >"$work/inc/$inc"
	if cmp -s "$2" "$work/inc/$inc"; then
		echo "# the sed expression changed nothing"
	else
		$cc $flags -I"$work/inc" -I. -Iemu -Ikernel-ref/include \
			-c -o "$work/changed.o" "tools/gen/$1.c"
		$cc -o "$work/gen" "$work/changed.o" \
			$(ls "$work"/*.o | grep -v -x -e "$object" \
				-e "$work/changed.o")
		if ! "$work/gen" "$work/out" >"$work/said" 2>&1 &&
		   grep -q -F -- "$4" "$work/said"; then
			ok=ok
		else
			sed 's/^/# /' "$work/said"
		fi
	fi
	rm -rf "$work/inc" "$work/changed.o"
	echo "$ok $count refuses: $4"
	[ "$ok" = ok ] || bad=1
}

echo "KTAP version 1"
echo "1..56"
refuses smmu $contract/smmu.def 's/SREG(CB, RESUME, 0x008/SREG(CB, RESUME, 0x004/' \
	"CB.RESUME overlaps ACTLR"
refuses smmu $contract/smmu.def 's/SREG(CB, RESUME, 0x008/SREG(CB, RESUME, 0x00A/' \
	"CB.RESUME: offset 0xa is not a multiple of 4"
refuses smmu $contract/smmu.def 's/SREG(CB, RESUME, 0x008/SREG(CB, RESUME, 0x1000/' \
	"CB.RESUME lies outside its page"
refuses smmu $contract/smmu.def 's/SREG(CB, RESUME, 0x008, 32/SREG(CB, RESUME, 0x008, 16/' \
	"CB.RESUME: width 16 is not 32 or 64"
refuses smmu $contract/smmu.def 's/SREG(CB, RESUME,/SREG(CX, RESUME,/' \
	"page CX is not known"
refuses smmu $contract/smmu.def 's/SREG(CB, RESUME,/SREG(CB, ACTLR,/' \
	"CB.ACTLR is there twice"
refuses smmu $contract/smmu.def 's/SFLD(CB, FSR, MULTI, *31/SFLD(CB, FSR, MULTI, 30/' \
	"CB.FSR.MULTI overlaps SS"
refuses smmu $contract/smmu.def 's/SFLD(CB, FSR, MULTI, *31/SFLD(CB, FSR, MULTI, 32/' \
	"CB.FSR.MULTI lies outside its register"
refuses smmu $contract/smmu.def 's/SFLD(CB, FSR, MULTI/SFLD(CB, FAR, MULTI/' \
	"field CB.FAR.MULTI does not follow its register"
refuses smmu $contract/smmu.def 's/0x00200001/0x100200001/' \
	"GR0.CR0: reset does not fit"
refuses regs $contract/regs.def 's/NREG(ENG, CTRL,  *0x008/NREG(ENG, CTRL, 0x004/' \
	"ENG.CTRL overlaps PARAM"
refuses entries $contract/entries.def 's/EFLD(fl_wqe, __u16, index, *2/EFLD(fl_wqe, __u16, index, 4/' \
	"fl_wqe.index is at 4, the one before ends at 2"
refuses entries $contract/entries.def 's/ENTRY(fl_cqe, 32/ENTRY(fl_cqe, 40/' \
	"fl_cqe has 40 bytes, its fields 32"
refuses entries $contract/entries.def 's/EFLD(fl_wqe, __u16, index/EFLD(fl_wqe, short, index/' \
	"type short is not"
refuses entries $contract/entries.def 's/EENUM(ST, BAD_OPCODE,  1/EENUM(ST, BAD_OPCODE, 0/' \
	"ST: OK and BAD_OPCODE have the same value"
refuses wire $contract/wire.def 's/WFLD(BLK, VA, *4/WFLD(BLK, VA, 5/' \
	"BLK.VA begins at bit 40, the one before ends at 32"
refuses wire $contract/wire.def 's/WOPC(ACK, *0xC8/WOPC(ACK, 0x11/' \
	"opcode ACK is not in 0xC0 to 0xFF"
refuses wire $contract/wire.def 's/WOPC(ACK, *0xC8/WOPC(ACK, 0xFE/' \
	"opcodes ACK and HELLO are the same"
refuses wire $contract/wire.def 's/WSTD(RC_SEND_LAST, *0x02/WSTD(RC_SEND_LAST, 0x04/' \
	"opcodes RC_SEND_LAST and RC_SEND_ONLY are the same"
refuses wire $contract/wire.def 's/WSTD(UD_SEND_ONLY, *0x64/WSTD(UD_SEND_ONLY, 0xC4/' \
	"opcode UD_SEND_ONLY is the manufacturer's"
refuses wire $contract/wire.def 's/WSTD(RC_FETCH_ADD, *0x14, ATOMICETH/WSTD(RC_FETCH_ADD, 0x14, ATOMIC/' \
	"header ATOMIC is not known"
refuses wire $contract/wire.def 's/WSTD(UD_SEND_ONLY, *0x64, DETH, NONE/WSTD(UD_SEND_ONLY, 0x64, NONE, DETH/' \
	"opcode UD_SEND_ONLY has a second header and no first"
refuses wire $contract/wire.def 's/WSTD(RC_SEND_FIRST, *0x00, NONE, NONE, FULL/WSTD(RC_SEND_FIRST, 0x00, NONE, NONE, ALL/' \
	"opcode RC_SEND_FIRST: payload ALL is not known"
refuses fsm $contract/fsm.def 's/ARC(TX, FREE, *GO, *READY/ARC(TX, FREE, GO, STEADY/' \
	"TX has no state STEADY"
refuses fsm $contract/fsm.def '/^ARC(TX, SRCFAULT,/d' \
	"TX SRCFAULT is never left"
refuses fsm $contract/fsm.def 's/^ARC(TX, FREE, *GO, *READY,.*/&\nARC(TX, FREE, GO, DONE, "")/' \
	"TX: GO in FREE leads to two states"
refuses tables emu/trace/events.def 's/^EVENT(LIB_POST,/EVENT(APP_NOTE,/' \
	"APP_NOTE is there twice"
refuses tables emu/sim/timing.def 's/"smmu.level"/"smmu.hit"/' \
	"smmu.hit is there twice"
refuses device $contract/device.def 's/DERR(POP, *0/DERR(POP, 2/' \
	"POP is neither 0 nor 1"
refuses device $contract/device.def 's/DLIM(CQS,/DLIM(QPS,/' \
	"QPS is there twice"
points=$contract/driver_trace.def
refuses driver_trace $points 's/^DRIVER_EVENT(DRV_BIND,/DRIVER_EVENT(DRV_WORK,/' \
	"DRV_WORK is there twice"
refuses driver_trace $points 's/ mr_gone, / mr, /' \
	"mr is there twice"
refuses driver_trace $points 's/^DRIVER_EVENT(DRV_BIND,/DRIVER_EVENT(BIND,/' \
	"BIND does not begin with DRV_"
refuses driver_trace $points 's/X32, "fsynr0"/X16, "fsynr0"/' \
	"DRV_IRQ_SMMU: type X16 of fsynr0 is not known"
refuses driver_trace $points 's/U32, "side", U32, "code"/NONE, "", U32, "code"/' \
	'DRV_READY: an argument after ""'
refuses driver_trace $points 's/X64, "ttbr_pa"/X64, "asid"/' \
	"DRV_BIND: asid is there twice"
refuses driver_trace $points 's/IRQ_STEP,   CARD/LAST_IRQ, CARD/' \
	"DRV_SPURIOUS follows LAST_IRQ, which is not known"
systems=$contract/system.def
refuses system $systems 's/^SYSTEM(PIN,/SYSTEM(STALL,/' \
	"STALL is there twice"
refuses system $systems 's/^SYSTEM(PIN, PROCESS, PIN,/SYSTEM(PIN, PROCESS, PINN,/' \
	"PIN: before 'PINN' is no BEFORE"
refuses system $systems 's/^SAXIS(VERDICT, REFUSE, BLOCK,/SAXIS(VERDICT, REFUSE, RC,/' \
	"PART: rw 'REFUSE' is not possible on transport BLOCK"
refuses system $systems 's/PARK, PARK, DROP, DROP/PARK, PARK, DROP, HOLD/' \
	"DROP: a process stalls all of its misses, or none"
refuses system $systems 's/PARK, PARK, WAIT, REFUSE/PARK, PARK, WAIT, WAIT/' \
	"PART: 'WAIT' is not possible as rw"
refuses system $systems 's/^SYSTEM(NPF, NIC,/SYSTEM(NPF, PROCESS,/' \
	"NPF: tables 'PROCESS' is not possible on transport RC"
refuses system $systems 's/^SYSTEM(PART, PROCESS,/SYSTEM(PART, NIC,/' \
	"PART: tables 'NIC' is not possible on transport BLOCK"
refuses system $systems 's/^SYSTEM(NPF, NIC, NOTHING,/SYSTEM(NPF, NIC, SNOOP,/' \
	"NPF: before 'SNOOP' is not possible on transport RC"
refuses system $systems 's/RNR, TOKEN,/RNR, READY,/' \
	"NPF: tells 'READY' is not possible on transport RC"
refuses system $systems 's/RC, PARK, REWIND, RNR, RNR, TOKEN/RC, PARK, PARK, RNR, RNR, TOKEN/' \
	"NPF: 'PARK' is not possible as iw"
refuses system $systems 's/BLOCK, PARK, PARK, DROP, DROP/BLOCK, PARK, DROP, DROP, DROP/' \
	"DROP: 'DROP' is not possible as iw"
refuses system $systems 's/REWIND, RNR, RNR, TOKEN/REWIND, REWIND, RNR, TOKEN/' \
	"NPF: 'REWIND' is not possible as rr"
refuses system $systems 's/PARK, REWIND, RNR, RNR, TOKEN/RNR, REWIND, RNR, RNR, TOKEN/' \
	"NPF: 'RNR' is not possible as ir"
refuses system $systems 's/^SAXIS(VERDICT, SLEEP,  RC,/SAXIS(VERDICT, SLEEP,  BLOCK,/' \
	"RXE: ir 'SLEEP' is not possible on transport RC"
refuses system $systems 's/^SPLACE(PARK,   BLOCK,/SPLACE(PARK,   BLOCKS,/' \
	"SPLACE of 'PARK' on 'BLOCKS', which is no transport"
refuses system $systems 's/HOLD, HOLD, RESUME/HOLD, HOLD, READY/' \
	"STALL: RESUME is for stalled accesses, and READY for others"
refuses system $systems 's/^SLINUX(PIN,/SLINUX(PINN,/' \
	"SLINUX of 'PINN', which is no row"
refuses system $systems 's/^SLINUX(PIN,/SLINUX(DROP,/' \
	"DROP has two lines SLINUX"
refuses system $systems 's/READY, BLOCK, "ideal"/READY, BLOCKS, "ideal"/' \
	"DROP: brings 'BLOCKS' is none of PAGE, BLOCK, TRANSFER"
exit $bad
