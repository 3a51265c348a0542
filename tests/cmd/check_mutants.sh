#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Mistakes in kernel and firmware: the checks find them, or do not, at the same moment and
# with the same words, whether they look at what has changed or at everything.
cd "$(dirname "$0")/../.." || exit 2
exec "${MAKE:-make}" --no-print-directory -s check-mutants
