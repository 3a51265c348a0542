// SPDX-License-Identifier: BSD-2-Clause
// Ends the program, well.
// says: no system tasks
7'd122: $finish;
