#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Debian's own kernel for boards on QEMU's ZCU102, unmodified, with its own device tree and our
# overlay, and the driver built for it (kernel-ref/fetch-headers: 6.1-board). QEMU has nothing
# where the programmable logic is, nor an SMMU of this kind, so the tree that is booted has the
# card's two windows in memory: what the driver writes there is seen, and nothing answers.
set -u
cd "$(dirname "$0")/../.." || exit 2
tools/doctor --have aarch64-linux-gnu-gcc qemu-system-aarch64 dtc fdtoverlay cpio || exit 77
. tests/cmd/expect.inc
. tests/board.inc
linux=$PWD/build/linux
version=6.1-board
ram=$dir/ram bytes=2048M
base=0
smmu=$((0x60000000))
nic=$((0x60020000))
tty=ttyPS0

module=$(make -s --no-print-directory -C kernel-ref modules KERNEL=$version) &&
unpacked=$(kernel-ref/fetch-headers "$linux" $version guest) || {
	echo "SKIP: there is no kernel image here (see above)"
	exit 77
}
kernel=$(cat "$linux/image-$version")
trees=$(echo "$unpacked"/usr/lib/linux-image-*/xilinx)
qemu=(qemu-system-aarch64 -M xlnx-zcu102,memory-backend=ram -m $bytes -audiodev none,id=none
	-nodefaults -display none -no-reboot
	-object memory-backend-file,id=ram,size=$bytes,share=on,mem-path="$ram")
guest_root "$dir/root" "$module"

# Debian's trees have no labels, which overlays need: those that ours ask for.
{
	dtc -q -I dtb -O dts "$trees/zynqmp-zcu102-rev1.0.dtb"
	cat <<-END
	amba: &{/axi} { };
	gic: &{/axi/interrupt-controller@f9010000} { };
	smmu: &{/axi/iommu@fd800000} { };
	END
} > "$dir/zcu102.dts"
dtc -q -@ -I dts -O dtb -o "$dir/zcu102.dtb" "$dir/zcu102.dts" || exit 1

expect 1 FDT_ERR_NOTFOUND "Debian's tree has no labels, and no overlay goes on it" \
	sh -c "make -s -C kernel-ref/board overlays OUT='$dir' &&
	fdtoverlay -i '$trees/zynqmp-zcu102-rev1.0.dtb' -o '$dir/none.dtb' '$dir/zcu102.dtbo'"
expect 0 "" "with them ours does" \
	fdtoverlay -i "$dir/zcu102.dtb" -o "$dir/overlaid.dtb" "$dir/zcu102.dtbo"
[ $bad = 0 ] || exit 1

# The windows are in memory, which Linux leaves alone. QEMU starts Linux without the chip's
# firmware, which has clocks and power domains; the console does without them.
{
	dtc -q -I dtb -O dts "$dir/overlaid.dtb"
	cat <<-END
	&{/axi/nic@fd800000} { reg = <0 $smmu 0 0x20000>, <0 $nic 0 0x20000>; };
	&{/axi/serial@ff000000} {
		clocks = <&{/pss_ref_clk} &{/pss_ref_clk}>;
		/delete-property/ power-domains;
		/delete-property/ pinctrl-names;
		/delete-property/ pinctrl-0;
	};
	/ {
		reserved-memory {
			#address-cells = <2>;
			#size-cells = <2>;
			ranges;
			windows@60000000 { reg = <0 0x60000000 0 0x40000>; no-map; };
		};
	};
	END
} > "$dir/board.dts"
dtc -q -I dts -O dtb -o "$dir/board.dtb" "$dir/board.dts" || exit 1

boot clk_ignore_unused
guest 0 "ZynqMP ZCU102" "it is that board" "cat /proc/device-tree/model"
guest 0 "" "the kernel is Debian's" "uname -r | grep -x '[0-9.-]*-arm64'"
guest 0 "faultline,nic" "the overlay's node is there" \
	"cat /proc/device-tree/axi/nic@fd800000/compatible"
guest 0 "3ec00000-3ecfffff : reserved" "Linux leaves the memory of the firmware's tables alone" \
	"cat /proc/iomem"
guest 0 "faultline 60000000.nic: node 0, 16+32 contexts of 16384 bytes" \
	"the driver finds the card" "insmod /faultline.ko"
guest 0 "" "a device file" "test -c /dev/faultline0"
guest 0 "faultline-smmu" "its three lines are the chip's" \
	"grep -c -e ' 187 .*faultline-smmu' -e ' 121 .*faultline-fault' -e ' 122 .*faultline-event' \
/proc/interrupts | grep -x 3 && grep faultline-smmu /proc/interrupts"
is "the driver has switched the SMMU on: unknown streams fault" $smmu 00201c06
guest 0 "" "a process opens the card" \
	"mkfifo /tmp/never; { exec 3<>/dev/faultline0; read x < /tmp/never; } & a=\$!; \
until test -c /proc/\$a/fd/3; do usleep 50000; done"
is "its stream has a group" $((smmu + 0x800)) 80000200
is "that goes to its bank" $((smmu + 0xc00)) 02000000
is "the bank is on" $((smmu + 0x10000)) 00000161
guest 0 "" "it ends" "kill \$a; wait \$a; true"
is "and its bank is off" $((smmu + 0x10000)) 00000000
guest 0 "" "the driver goes" "rmmod faultline"
guest 1 "" "no complaint of the kernel's" "dmesg | grep -e 'WARNING:' -e 'BUG:' -e Oops"
end
exit $bad
