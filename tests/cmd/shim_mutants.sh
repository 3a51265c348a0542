#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Mistakes of a kernel's kind, put into the driver: its tests fail and name the rule.
cd "$(dirname "$0")/../.." || exit 2
exec "${MAKE:-make}" --no-print-directory -s shim-mutants
