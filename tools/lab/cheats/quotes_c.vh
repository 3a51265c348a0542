// SPDX-License-Identifier: BSD-2-Clause
// A comment that Verilator obeys: others of these put C++ into the program.
// says: no directives to the tools
/*verilator public_flat_rw*/
