# SPDX-License-Identifier: BSD-2-Clause
# Profile qfdb: a Zynq UltraScale+ of a QFDB (1.5 GHz Cortex-A53, 10 Gb/s links). Three
# published figures are fitted: 38 us for a one-page write whose destination faults (minor),
# 1.3 us one way for a small message over one hop, 82 % of the link for a large resident
# transfer. `faultline reproduce` checks them. What is marked assumed has no source; within
# which bounds it may lie, and what follows from that: faultline reproduce qfdb --sensitivity.
# In virtual time the engine reads a block, then sends it. The Verilog reads the next one
# meanwhile; in simulation it has this rate from 125 MHz on (rtl/README.md, "How fast is it?").
link.mbps = 10000               # 10 Gb/s links rack-wide (sources: exanest-rack)
link.delay = 1022               # fitted: one way of a small message over the first hop 1.3 us (sources: exanest-figures)
link.hop = 310                  # (2.55 - 1.3) us over 4 hops (sources: exanest-figures)
link.cell = 256                 # assumed; 256 B cells are remembered, not sourced (sources: exanest-unknown)
link.overhead = 32              # assumed; 16 B before and 16 B after a cell are remembered (sources: exanest-unknown)
smmu.hit = 10                   # assumed; 2 to 3 clocks (sources: smmu-faults) at 200 to 300 MHz
smmu.level = 18                 # fitted with engine.mem_mbps; upper levels come from a walk cache
engine.burst = 12               # fitted with engine.mem_mbps
engine.mem_mbps = 168300        # fitted: 82 % of the link when resident (sources: exanest-figures); the engine reads, then sends
engine.packet = 10              # assumed
fw.wqe = 100                    # assumed
fw.block = 50                   # assumed
fw.event = 50                   # assumed
fw.cqe = 50                     # assumed
fw.command = 2000               # assumed
fw.timeout = 1000000            # assumed
fw.fault_timeout = 20000000     # assumed
fw.tries = 7                    # assumed
fw.refusals = 1000              # assumed
fw.waiting_share = 4            # assumed
cpu.post = 50                   # assumed
cpu.poll = 50                   # assumed
cpu.mmio_write = 100            # assumed
cpu.mmio_read = 250             # assumed
cpu.syscall = 500               # assumed
cpu.copy_mbps = 24000           # assumed
cpu.trap = 2000                 # assumed
irq.latency = 3000              # assumed
irq.work = 13850                # fitted: 38 us for a one-page write (sources: exanest-figures)
irq.wake = 5000                 # assumed
mm.lookup = 2000                # assumed
mm.minor = 3000                 # assumed
mm.present = 300                # assumed
mm.major = 100000               # assumed; M.2 SSD
mm.writeback = 100000           # assumed; M.2 SSD
mm.pin = 1000                   # assumed
mm.unpin = 500                  # assumed
mm.invalidate = 1000            # assumed
