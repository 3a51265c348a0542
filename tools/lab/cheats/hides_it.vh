// SPDX-License-Identifier: BSD-2-Clause
// A macro may be anything, and be nothing that looks like it.
// says: no directives or macros
`define WOP_X 7'd125: step
`WOP_X <= IDLE;
