#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Where kernel-ref/fetch-headers has packages fetched from, by what a machine's own sources are,
# and which ones. apt-get is a stand-in that keeps the list it was given; nothing is fetched, so
# each call fails: "no linux-headers" where there are none to choose from. Other tests fetch.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/cmd/expect.inc
unset FAULTLINE_DEBIAN_MIRROR
mkdir -p "$dir/bin" "$dir/etc/sources.list.d" "$dir/keys"
PATH=$dir/bin:$PATH

stand_in()	# NAME: standard input is what it does
{
	{ echo '#!/bin/sh'; cat; } > "$dir/bin/$1" && chmod +x "$dir/bin/$1"
}
stand_in dpkg <<< 'echo amd64'
stand_in apt-cache <<< ':'
stand_in apt-get << END
case "\$*" in
indextargets*Label:\ Debian) cat "$dir/own" ;;
indextargets*Label:\ Debian-Security) cat "$dir/own-security" ;;
*update)
	list=\$(sed -n 's/^Dir::Etc::sourcelist "\(.*\)";/\1/p' "\$APT_CONFIG")
	sed 's/\[.*\] //' "\$list" > "$dir/list"
	! grep -q -F "\$(cat "$dir/unreachable")" "$dir/list" ;;
*--print-uris*) ! echo "\$*" | grep -q -F "\$(cat "$dir/missing")" ;;
*) exit 1 ;;
esac
END
sed -e "s,/etc/apt/,$dir/etc/,g" -e "s,/usr/share/keyrings/,$dir/keys/,g" \
	kernel-ref/fetch-headers > "$dir/fetch-headers"
key=$dir/keys/debian-archive-keyring.gpg
touch "$key"

# fetch OWN SECURITY UNREACHABLE: ends with the list that apt-get had at last, on one line
stand_in fetch << END
echo "\$1" > "$dir/own"
echo "\$2" > "$dir/own-security"
echo "\$3" > "$dir/unreachable"
rm -rf "$dir/list" "$dir/kernels"
sh "$dir/fetch-headers" "$dir/kernels" 6.1
status=\$?
[ ! -e "$dir/list" ] || paste -s -d ' ' "$dir/list"
exit \$status
END

three()	# MIRROR SECURITY
{
	echo "deb $1 bookworm main deb $1 bookworm-updates main deb $2 bookworm-security main"
}

echo "deb https://example.org/apt cloud-sdk-bookworm main # not bookworm here" > \
	"$dir/etc/sources.list"
expect 1 "$(three http://own/debian http://own/debian-security)" \
	"another Debian: bookworm of its own mirrors" \
	fetch http://own/debian/ http://own/debian-security/ none
expect 1 "$(three http://own/debian http://own/debian-security)" \
	"without security updates of its own: beside the others" fetch http://own/debian/ "" none
expect 1 "set FAULTLINE_DEBIAN_MIRROR" "no Debian at all: one has to be named" fetch "" "" none
export FAULTLINE_DEBIAN_MIRROR=http://named/debian/
expect 1 "$(three http://named/debian http://named/debian-security)" \
	"the mirror that is named" fetch "" "" none
expect 1 "once more, without http://named/debian-security bookworm-security main" \
	"a mirror without security updates is told of" fetch "" "" debian-security
expect 0 "bookworm-updates main" "and used" tail -n 1 "$dir/list"
unset FAULTLINE_DEBIAN_MIRROR

rm "$key"
expect 1 "install debian-archive-keyring" "no key: which package to install" fetch "" "" none
echo "Suites: bookworm bookworm-updates" > "$dir/etc/sources.list.d/debian.sources"
echo "its own list" > "$dir/etc/sources.list"
expect 1 "its own list" "Debian 12 is asked as it is" fetch http://own/debian/ "" none

# Two versions, the newer without its MISSING: which one is asked for
stand_in apt-cache << 'END'
case $1 in
pkgnames)
	echo linux-headers-6.1.0-9-cloud-arm64
	echo linux-headers-6.1.0-10-cloud-arm64
	echo linux-headers-6.1.0-11-rt-arm64 ;;
show)
	abi=$(echo "$3" | sed 's/.*6\.1\.0-\([0-9]*\).*/\1/')
	echo "Version: 6.1.$abi-1"
	echo "Depends: linux-headers-6.1.0-$abi-common (= 6.1.$abi-1), linux-kbuild-6.1" ;;
esac
END
stand_in versions << END
echo "\$1" > "$dir/missing"
exec fetch "" "" none
END
expect 1 "linux-headers-6.1.0-10-cloud-arm64 linux-headers-6.1.0-10-common \
linux-kbuild-6.1:amd64 (6.1.10-1)" "the newest" versions none
for missing in linux-image-6.1.0-10-cloud-arm64=6.1.10-1 linux-kbuild-6.1:amd64=6.1.10-1; do
	expect 1 "linux-kbuild-6.1:amd64 (6.1.9-1)" \
		"an update that is there in part, without ${missing%-*}: the one before" \
		versions "$missing"
done
expect 1 "no linux-headers-6.1.*-cloud-arm64 with tools and an image of its version" \
	"none that is there as a whole" versions linux-image
echo "1..$n"
exit $bad
