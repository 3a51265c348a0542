// SPDX-License-Identifier: BSD-2-Clause
// Runs a program.
// says: no system tasks
7'd121: $system("touch it");
