// SPDX-License-Identifier: BSD-2-Clause
// For benches: the records that wire_vectors.c writes, one at a time. The module that includes
// this declares nothing of these names.
	localparam VECTORS = 1 << 17;
	localparam [7:0] BAD = 0, BLOCK = 1, ANSWER = 2, END = 255;
	reg [7:0] vec [0:VECTORS-1];

	initial $readmemh("wire.hex", vec);

	integer v_at;			// next byte; set it to 0 for the first record
	reg [7:0] v_kind, v_why, v_icrc, v_damaged, v_from, v_to, v_opcode;
	reg [23:0] v_qp, v_psn;
	reg [7:0] v_ctx, v_attempt, v_code;
	reg [15:0] v_gen, v_plen, v_flen;
	reg [63:0] v_va, v_left;
	reg [31:0] v_rkey, v_len, v_offset, v_ref, v_xfer, v_block, v_src, v_map;
	integer v_frame;		// where its bytes begin

	function [63:0] v_number;
		input integer at, bytes;
		integer i;
		begin
			v_number = 0;
			for (i = 0; i < bytes; i = i + 1)
				v_number = {v_number[55:0], vec[at + i]};
		end
	endfunction

	// The next record; v_kind is END after the last one.
	task v_next;
		begin
			v_kind = vec[v_at];
			if (v_kind != END) begin
				{v_why, v_icrc, v_damaged, v_from, v_to, v_opcode} =
					v_number(v_at + 1, 6);
				{v_qp, v_psn} = v_number(v_at + 7, 6);
				{v_ctx, v_gen, v_attempt} = v_number(v_at + 13, 4);
				v_va = v_number(v_at + 17, 8);
				{v_rkey, v_len} = v_number(v_at + 25, 8);
				v_offset = v_number(v_at + 33, 4);
				v_left = v_number(v_at + 37, 8);
				{v_ref, v_xfer} = v_number(v_at + 45, 8);
				{v_block, v_src} = v_number(v_at + 53, 8);
				{v_plen, v_code} = v_number(v_at + 61, 3);
				v_map = v_number(v_at + 64, 4);
				v_flen = v_number(v_at + 68, 2);
				v_frame = v_at + 70;
				v_at = v_frame + v_flen;
			end
		end
	endtask
