// SPDX-License-Identifier: BSD-2-Clause
// A loop without an end, for the compiler or the model.
7'd126: while (1) count <= count + 8'd1;
