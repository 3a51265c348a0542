# SPDX-License-Identifier: BSD-2-Clause
# Profile ethernet: the other card of "Page Fault Support for Network Controllers" (Lesokhin and
# others, ASPLOS 2017): a ConnectX-3 of 40 Gb/s, whose firmware could not be changed so far. Its
# prototype has each packet written twice, so that PCIe leaves 12 Gb/s; a driver plays the card.
# Published are the peak, 11.7 Gb/s, and curves of throughput against the share of packets that
# miss a page, all read off figures. What a page fault costs there is not; it is taken from
# profile connectx, the same authors' InfiniBand card. What is marked assumed has no source.
link.mbps = 12390               # fitted: a peak of 11.7 Gb/s (sources: npf-figures)
link.delay = 500                # assumed; one switch and cables
link.hop = 200                  # as connectx
link.cell = 2048                # assumed; as rc.mtu
link.overhead = 78              # preamble, gap, Ethernet, IPv4, TCP and checksum of a packet of 1448 bytes
smmu.hit = 10                   # as connectx
smmu.level = 100                # as connectx
engine.burst = 60               # as connectx
engine.mem_mbps = 100000        # as connectx
engine.packet = 10              # as connectx
fw.wqe = 200                    # as connectx
fw.block = 100                  # as connectx
fw.event = 100                  # as connectx
fw.cqe = 100                    # as connectx
fw.command = 20000              # as connectx
fw.timeout = 67000000           # as connectx
fw.fault_timeout = 500000000    # as connectx
fw.tries = 7                    # as connectx
fw.refusals = 1000              # as connectx
fw.waiting_share = 4            # as connectx
cpu.post = 50                   # as connectx
cpu.poll = 50                   # as connectx
cpu.mmio_write = 50             # as connectx
cpu.mmio_read = 200             # as connectx
cpu.syscall = 200               # as connectx
cpu.copy_mbps = 64000           # as connectx
cpu.trap = 1000                 # as connectx
irq.latency = 1000              # as connectx
irq.work = 3900                 # as connectx
irq.wake = 3000                 # as connectx
mm.lookup = 30                  # as connectx
mm.minor = 68                   # as connectx
mm.present = 20                 # as connectx
mm.major = 5000000              # as connectx
mm.writeback = 5000000          # as connectx
mm.pin = 300                    # as connectx
mm.unpin = 200                  # as connectx
mm.invalidate = 3000            # as connectx
nic.trigger = 130000            # as connectx
nic.trigger_page = 16           # as connectx
nic.update = 6000               # as connectx
nic.update_page = 13            # as connectx
nic.resume = 0                  # the source's report alone has one
nic.spread = 0                  # as connectx
nic.zap = 14000                 # as connectx
nic.zap_page = 43               # as connectx
rc.packet = 10                  # assumed
rc.mtu = 2048                   # the smallest that holds an Ethernet packet of 1500 bytes
rc.timeout = 17                 # assumed; of reliable connections, which this card does not have
rc.timeout_floor = 500000000    # assumed; of reliable connections, which this card does not have
rc.retries = 7                  # assumed; of reliable connections, which this card does not have
rc.rnr_code = 15                # assumed; of reliable connections, which this card does not have
rc.rnr_tries = 7                # assumed; of reliable connections, which this card does not have
rc.rnr_floor = 0                # assumed; of reliable connections, which this card does not have
rc.rnr_tick = 0                 # assumed; of reliable connections, which this card does not have
rc.window = 128                 # assumed; of reliable connections, which this card does not have
rc.queue = 256                  # assumed; the card's own buffer
rc.rd_atomic = 16               # assumed; of reliable connections, which this card does not have
tcp.rto_first = 1000000000      # RFC 6298, 2.1
tcp.rto_min = 320000000         # fitted: a packet that is dropped costs about 0.32 s (sources: npf-figures)
tcp.tries = 15                  # Linux, tcp_retries2
tcp.window = 256                # assumed; 370 KB
