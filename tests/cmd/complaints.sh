#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools/vqfdb/complaints: what it finds in a kernel's log, and what it lets pass.
# Whether a guest with a complaint counts as unwell: vqfdb.sh. What a kernel that
# watches itself really says: make kernel-debug-self.
set -u
. tests/cmd/expect.inc

finds() {	# finds LINE...: each of them, among lines that are well
	for line; do
		printf 'Booting Linux\n%s\nfaultline 0: node 0\n' "$line" >"$dir/log"
		expect 0 "$line" "found: $line" \
			sh -c "tools/vqfdb/complaints <'$dir/log'"
		[ "$(wc -l <"$dir/out")" = 1 ] ||
			expect 1 "" "and nothing else" cat "$dir/out"
	done
}

finds 'WARNING: CPU: 1 PID: 7 at mm/mmap.c:1 f+0x10/0x20' \
	'WARNING: possible circular locking dependency detected' \
	'BUG: sleeping function called from invalid context at mm/slab.h:1' \
	'kernel BUG at mm/rmap.c:1!' \
	'UBSAN: array-index-out-of-bounds in fl_fault.c:1:2' \
	'Internal error: Oops: 96000004 [#1] PREEMPT SMP' \
	'Unable to handle kernel NULL pointer dereference' \
	'INFO: task send:7 blocked for more than 60 seconds.' \
	'rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:' \
	'INFO: trying to register non-static key.' \
	'irq 12: nobody cared (try booting with the "irqpoll" option)' \
	'refcount_t: underflow; use-after-free.' \
	'kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)' \
	'ODEBUG: free active (active state 0) object type: work_struct hint: f+0x0/0x1' \
	'Call trace:' \
	'faultline 0: bank 3: no TLB sync' \
	'faultline 0: SMMU global fault 0x2: stream 0x1 va 0x0' \
	'faultline 0: slot 3 does not close: -5'

cat >"$dir/well" <<'END'
kasan: KernelAddressSanitizer initialized (generic)
kmemleak: Kernel memory leak detector disabled
ODEBUG: selftest passed
rcu: Preemptible hierarchical RCU implementation.
test_swap invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
CPU: 1 PID: 70 Comm: test_swap Tainted: G           O       6.1.0 #1
Hardware name: linux,dummy-virt (DT)
Call trace:
 dump_backtrace+0xe0/0x130
faultline 0: the card is gone: its emulator has ended
END
expect 1 "" "a log that is well, with one whom the OOM killer met" \
	sh -c "tools/vqfdb/complaints <'$dir/well'"
expect 1 "" "an empty log" sh -c "tools/vqfdb/complaints </dev/null"
exit $bad
