# SPDX-License-Identifier: BSD-2-Clause
# Profile pm: PM on Myrinet, Pentium Pro of 200 MHz (Tezuka and others, IPPS 1998). Two published
# figures are fitted, both with messages of 64 KB, one at a time, which is our choice: 108.8
# MB/s if every region is found in the pin-down cache, 78.7 MB/s if none is. What a page
# costs to pin and to unpin at both ends follows from the two, 14.4 us; how it is divided
# between the ends and the two calls does not. `faultline reproduce pincache` checks it.
# What is marked assumed has no source.
link.mbps = 1280                # 160 MB/s: a link of Myrinet, each way
link.delay = 500                # assumed; cut-through switch and cables
link.hop = 500                  # assumed
link.cell = 4096                # assumed; PM's packets have up to a page
link.overhead = 16              # assumed
smmu.hit = 100                  # assumed; the card's processor looks up a table
smmu.level = 100                # assumed
engine.burst = 200              # assumed
engine.mem_mbps = 3640          # fitted: 108.8 MB/s; the engine reads, then sends
engine.packet = 100             # assumed
fw.wqe = 2000                   # assumed; LANai of 33 MHz
fw.block = 1000                 # assumed
fw.event = 1000                 # assumed
fw.cqe = 1000                   # assumed
fw.command = 2000               # assumed
fw.timeout = 10000000           # assumed
fw.fault_timeout = 200000000    # assumed
fw.tries = 7                    # assumed
fw.refusals = 1000              # assumed
fw.waiting_share = 4            # assumed
cpu.post = 200                  # assumed
cpu.poll = 200                  # assumed
cpu.mmio_write = 300            # assumed; PCI of 33 MHz
cpu.mmio_read = 1000            # assumed
cpu.syscall = 1000              # assumed
cpu.copy_mbps = 800             # assumed
cpu.trap = 3000                 # assumed
irq.latency = 5000              # assumed
irq.work = 10000                # assumed
irq.wake = 10000                # assumed
mm.lookup = 1000                # assumed
mm.minor = 10000                # assumed
mm.present = 500                # assumed
mm.major = 10000000             # assumed; a disk
mm.writeback = 10000000         # assumed; a disk
mm.pin = 2545                   # fitted with mm.unpin: 78.7 MB/s
mm.unpin = 2545                 # fitted with mm.pin, and as much
mm.invalidate = 1000            # assumed
