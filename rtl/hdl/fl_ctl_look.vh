// SPDX-License-Identifier: BSD-2-Clause
// Inside fl_ctl: what the states look at.

// Fields of a register write.
wire g_ready = g_eng && g_offset == `NIC_ENG_READY;
wire [7:0] ready_index = rq_wdata[`NIC_ENG_READY_INDEX_MSB:`NIC_ENG_READY_INDEX_LSB];
wire [7:0] ready_code = {1'b0, rq_wdata[`NIC_ENG_READY_CODE_MSB:`NIC_ENG_READY_CODE_LSB]};
wire [7:0] ready_serial = rq_wdata[`NIC_ENG_READY_SERIAL_MSB:`NIC_ENG_READY_SERIAL_LSB] ^
			   {8{`DEV_ERR_READY}};
wire [7:0] verdict_code = rq_wdata[`NIC_RXC_VERDICT_CODE_MSB:`NIC_RXC_VERDICT_CODE_LSB];
wire [7:0] verdict_serial = rq_wdata[`NIC_RXC_VERDICT_SERIAL_MSB:`NIC_RXC_VERDICT_SERIAL_LSB];
wire [7:0] ctrl_code = rq_wdata[`NIC_CTX_CTRL_CODE_MSB:`NIC_CTX_CTRL_CODE_LSB];
wire [3:0] ctrl_op = rq_wdata[`NIC_CTX_CTRL_OP_MSB:`NIC_CTX_CTRL_OP_LSB];
wire ctrl_go = rq_wdata[`NIC_CTX_CTRL_GO_LSB];
wire ctrl_release = rq_wdata[`NIC_CTX_CTRL_RELEASE_LSB];
wire ctrl_expire = rq_wdata[`NIC_CTX_CTRL_EXPIRE_LSB];
wire ctrl_kill = rq_wdata[`NIC_CTX_CTRL_KILL_LSB];
wire [7:0] go_opcode = {4'd0, ctrl_op} == `FL_OP_WRITE ? `WOP_WRITE :
			{4'd0, ctrl_op} == `FL_OP_READ ? `WOP_READ_REQ :
			{4'd0, ctrl_op} == `FL_OP_READ_RESP ? `WOP_READ_RESP : 8'd0;

// The transmit context.
wire [3:0] t_to = tx_next(t_state[ti], tm_event);
wire t_rxc_none = t_rxc[ti][5];
wire t_current = rd_busy && !rd_dropped && rd_ctx == tn;
wire [63:0] local_last = t_lva[ti] + {47'd0, t_len[ti]} - 64'd1;
wire [63:0] remote_last = t_rva[ti] + {47'd0, t_len[ti]} - 64'd1;
wire [16:0] rest = t_len[ti] - rd_sent;
assign c_plen = rd_ask ? 13'd0 : rest < cell_bytes[16:0] ? rest[12:0] : cell_bytes[12:0];
wire c_last = rd_ask || rest == {4'd0, c_plen};
wire [16:0] t_cells = (t_len[ti] + cell_bytes[16:0] - 17'd1) >> i_cell_log2;

// Which event an answer is, if it is one: answer_event(). A READ ends with data. Only its
// refusal comes as an answer.
wire answers = pk_opcode == `WOP_NAK || (!rd_ask && (pk_opcode == `WOP_ACK ||
		      pk_opcode == `WOP_REFUSED || pk_opcode == `WOP_READY));
wire [3:0] answer_event = pk_opcode == `WOP_ACK ? `FL_TX_EV_ACK :
			   pk_opcode == `WOP_REFUSED ? `FL_TX_EV_REFUSED :
			   pk_opcode == `WOP_READY ? `FL_TX_EV_PEER_READY : `FL_TX_EV_NAK;

// A READ that must be asked for again. It stays FLYING: the answer to an earlier attempt may still
// come. later()
wire later = rd_ask && pk_opcode == `WOP_REFUSED && pk_code != 8'd0;

// Is it what transmit context ti asked for, from this node? tx_matches_read(). READY: the timer ran
// out, and then the answer came after all.
wire vouched = pk_ref[31:24] < {3'd0, i_contexts} && rd_ask && t_asked[ti] &&
		      (t_state[ti] == `FL_TX_FLYING || t_state[ti] == `FL_TX_READY) &&
		      {4'd0, t_node[ti]} == pk_from && t_gen[ti] == pk_ref[23:8] &&
		      {15'd0, t_len[ti]} == pk_len;

// Is the packet possible at all, on some board? possible()
wire [31:0] cell_mask = cell_bytes - 32'd1;
wire [31:0] pk_rest = pk_len - pk_offset;
wire [31:0] pk_full = pk_rest < cell_bytes ? pk_rest : cell_bytes;
wire [31:0] pk_cell = pk_offset >> i_cell_log2;
wire [63:0] pk_last = pk_va + {32'd0, pk_len} - 64'd1;
wire possible = pk_ctx < 8'd16 && pk_len != 32'd0 && pk_len <= 32'd65536 &&
		       pk_last >= pk_va &&
		       (pk_opcode == `WOP_READ_REQ ? pk_offset == 32'd0 && pk_psn == 24'd0 :
			pk_offset < pk_len && (pk_offset & cell_mask) == 32'd0 &&
			{8'd0, pk_psn} == pk_cell && {19'd0, pk_plen} == pk_full);
// The peer's blocks are larger than ours.
wire too_large = pk_len > block_bytes;
wire pk_whole = pk_offset + {19'd0, pk_plen} == pk_len;	// the last cell of its block

// The peer and the receive context.
wire answer = pk_opcode == `WOP_READ_RESP;
wire p_rxc_none = p_rxc[pi][5];
wire [15:0] gen_ahead = pk_gen - p_gen[pi];
wire newer_gen = !p_valid[pi] || (gen_ahead != 16'd0 && !gen_ahead[15]);
wire [7:0] attempt_ahead = pk_attempt - p_attempt[pi];
wire [7:0] ref_ahead = pk_ref[7:0] - x_ref[xi][7:0];
wire x_requester_none = x_requester[xi][4];
// Of the cells of one attempt, each must tell the same story. Where a READ's answer goes, its
// requester knows; not the packet.
wire same_block = x_opcode[xi] == pk_opcode && x_qpn[xi] == pk_qp &&
			 {15'd0, x_len[xi]} == pk_len && x_rkey[xi] == pk_rkey &&
			 x_ref[xi] == pk_ref && x_src[xi] == pk_src &&
			 (answer || (x_va[xi] == pk_va && x_left[xi] == pk_left));
wire [31:0] cells = (pk_len + cell_mask) >> i_cell_log2;
wire [4:0] free_next = lowest(free);

// Places in the peer table.
wire [7:0] pk_place = {pk_from[3:0], pk_ctx[3:0]};
wire [7:0] x_place = {x_node[xi], x_ctx[xi]};

// Bits that only larger sizes need.
wire unused = &{1'b0, pk_place, s_place, x_place, cells, t_cells, pk_map, cell_bytes, tn, xn,
		wr_ctx, si_look};

function [4:0] lowest;
	input [X_ROWS-1:0] set;
	integer k;
	begin
		lowest = 5'd0;
		for (k = X_ROWS - 1; k >= 0; k = k - 1)
			if (set[k])
				lowest = k[4:0];
	end
endfunction
