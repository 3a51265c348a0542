// SPDX-License-Identifier: BSD-2-Clause
// Writes a file.
// says: no system tasks
7'd124: n = $fopen("../record", "w");
