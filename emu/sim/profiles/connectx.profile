# SPDX-License-Identifier: BSD-2-Clause
# Profile connectx: a Connect-IB of 56 Gb/s in an HP DL380p Gen8 with Xeons of 2.7 GHz (Lesokhin
# and others, "Page Fault Support for Network Controllers", ASPLOS 2017). What a page fault of the
# card costs was published for a message of 4 KB and one of 4 MB, 220 and 350 us, and in parts,
# which were read off a figure: so each stage has a base and a price per page. Of the curve of
# throughput against the share of faults, message size and peak are published; neither the size of
# a packet nor the code of the RNR NAK is, and the pair here is one of those that fit.
# What is marked assumed has no source.
link.mbps = 54300               # 56 Gb/s FDR, four lanes of 14 Gb/s, 64 of 66 bits (sources: npf-machine)
link.delay = 500                # assumed; one switch (SX6036) and cables
link.hop = 200                  # assumed
link.cell = 2048                # assumed; as rc.mtu
link.overhead = 30              # assumed; headers of a packet of the reliable connection
smmu.hit = 10                   # assumed; the SMMU has no part in rows npf, odp2, droprc
smmu.level = 100                # assumed
engine.burst = 60               # assumed; PCIe 3.0 of 16 lanes
engine.mem_mbps = 100000        # assumed; the same
engine.packet = 10              # assumed
fw.wqe = 200                    # assumed
fw.block = 100                  # assumed
fw.event = 100                  # assumed
fw.cqe = 100                    # assumed
fw.command = 20000              # assumed
fw.timeout = 67000000           # assumed; of blocks, which this card does not have
fw.fault_timeout = 500000000    # assumed; the same
fw.tries = 7                    # assumed
fw.refusals = 1000              # assumed
fw.waiting_share = 4            # assumed
cpu.post = 50                   # assumed
cpu.poll = 50                   # assumed
cpu.mmio_write = 50             # assumed
cpu.mmio_read = 200             # assumed; polled while the table is changed
cpu.syscall = 200               # assumed
cpu.copy_mbps = 64000           # half of 16,410 MB/s is what copying left of pinning's rate (sources: npf-machine)
cpu.trap = 1000                 # assumed
irq.latency = 1000              # assumed; of the 5 us of software for one page
irq.work = 3900                 # fitted: about 5 us of software for one page (sources: npf-figures)
irq.wake = 3000                 # assumed
mm.lookup = 30                  # assumed; of what a page costs, with mm.minor
mm.minor = 68                   # fitted with mm.lookup: about 105 us of software for 1024 pages (sources: npf-figures)
mm.present = 20                 # assumed
mm.major = 5000000              # assumed; one disk (sources: npf-machine)
mm.writeback = 5000000          # assumed; the same
mm.pin = 300                    # assumed
mm.unpin = 200                  # assumed
mm.invalidate = 3000            # about 3 us of checks, one page (sources: npf-figures)
nic.trigger = 130000            # about 130 us from the miss to the interrupt, one page (sources: npf-figures)
nic.trigger_page = 16           # fitted: what the other stages leave of 350 us for 4 MB; 24 if read off the figure
nic.update = 6000               # fitted: about 7 us for one page, with the registers that the driver writes (sources: npf-figures)
nic.update_page = 13            # about 20 us, 1024 pages (sources: npf-figures)
nic.resume = 78000              # about 78 us (sources: npf-figures)
nic.spread = 0                  # assumed; the quirk that is called flood would be here
nic.zap = 14000                 # about 14 us, one page (sources: npf-figures)
nic.zap_page = 43               # fitted: 61 us in all for 1024 pages, the driver's own 11 us of them included
rc.packet = 117                 # fitted with engine.burst and engine.mem_mbps: a peak of 48 Gb/s
rc.mtu = 2048                   # assumed, with rc.rnr_code: 4096 and code 17 fit as well
rc.timeout = 17                 # assumed; 4.096 us * 2^17 is 537 ms
rc.timeout_floor = 500000000    # ConnectX-2 takes no less (sources: rc-times)
rc.retries = 7                  # the largest number that there is; what libraries ask for (sources: rc-times)
rc.rnr_code = 15                # assumed, with rc.mtu: 1.92 ms
rc.rnr_tries = 7                # no end; what libraries ask for (sources: rc-times)
rc.rnr_floor = 0                # assumed
rc.rnr_tick = 0                 # assumed
rc.window = 128                 # assumed
rc.queue = 64                   # assumed
rc.rd_atomic = 16               # assumed; what such cards report
