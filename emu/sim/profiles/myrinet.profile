# SPDX-License-Identifier: BSD-2-Clause
# Profile myrinet: a LANai 9.2 on Myrinet under FreeBSD 4.6 (Ong, "Network Virtual Memory", thesis,
# UBC 2003). Seven figures are fitted to its abstract: the link's rate and what a packet costs
# beside its payload (155.46 MB/s, which is 97.2 % of the link), the smallest WRITE (5.56 us), the
# least and the most that a notification takes (2.96 and 17.49 us), and what a wait queue and a
# semaphore add at most (18.2 and 12.6 %). The most is where least else is done, so that it is
# taken as a share of the 2.96 us; what NetVM does there the abstract does not say. How large a
# packet is, and all else that a host costs, was not published there: assumed, for a machine of
# some 1 GHz of that time.
link.mbps = 1280                # 160 MB/s: 155.46 MB/s are 97.2 % of 159.9 (sources: netvm)
link.delay = 1300               # assumed; a switch and cables
link.hop = 300                  # assumed
link.cell = 4096                # assumed; as nv.mtu
link.overhead = 118             # fitted: 4096 of 4096 + 118 bytes is 97.2 % (sources: netvm)
smmu.hit = 10                   # assumed; the SMMU has no part in row netvm
smmu.level = 100                # assumed
engine.burst = 1500             # fitted: the smallest WRITE takes 5.56 us (sources: netvm)
engine.mem_mbps = 4000          # assumed; the same
engine.packet = 100             # assumed
fw.wqe = 1000                   # assumed; LANai of 133 MHz
fw.block = 500                  # assumed
fw.event = 500                  # assumed
fw.cqe = 300                    # assumed
fw.command = 20000              # assumed
fw.timeout = 67000000           # assumed; of blocks, which this card does not have
fw.fault_timeout = 500000000    # assumed; the same
fw.tries = 7                    # assumed
fw.refusals = 1000              # assumed
fw.waiting_share = 4            # assumed
cpu.post = 300                  # assumed
cpu.poll = 200                  # assumed
cpu.mmio_write = 200            # assumed
cpu.mmio_read = 700             # assumed; PCI
cpu.syscall = 700               # assumed
cpu.copy_mbps = 3200            # assumed; 400 MB/s
cpu.trap = 1000                 # assumed
cpu.handler = 6770              # fitted: a handler hears after 17.49 us (sources: netvm)
cpu.queue = 530                 # fitted: 18.2 % of what noticing takes without sleep (sources: netvm)
cpu.semaphore = 367             # fitted: 12.6 % of the same (sources: netvm)
irq.latency = 3000              # assumed
irq.work = 2000                 # assumed
irq.wake = 5000                 # assumed
mm.lookup = 500                 # assumed
mm.minor = 2000                 # assumed
mm.present = 200                # assumed
mm.major = 8000000              # assumed; one disk
mm.writeback = 8000000          # assumed; the same
mm.pin = 7200                   # assumed; half of the 14.4 us a page of profile pm
mm.unpin = 7200                 # assumed; the same
mm.invalidate = 500             # assumed
nic.trigger = 2000              # assumed
nic.trigger_page = 0            # assumed
nic.update = 1500               # assumed
nic.update_page = 200           # assumed
nic.resume = 2000               # assumed
nic.spread = 0                  # assumed
nic.zap = 1500                  # assumed
nic.zap_page = 200              # assumed
rc.timeout = 14                 # assumed; the time-out is not NetVM's: Myrinet loses nothing
rc.retries = 7                  # assumed
nv.packet = 250                 # assumed
nv.count = 2420                 # fitted: a notification that is polled for takes 2.96 us (sources: netvm)
nv.lock = 120                   # assumed; twice of it is under 5.0 % of the smallest WRITE (sources: netvm)
nv.mtu = 4096                   # assumed
nv.window = 64                  # assumed
nv.credits = 16                 # assumed
nv.slots = 256                  # assumed
nv.probe = 20000000             # assumed; not NetVM's
