// SPDX-License-Identifier: BSD-2-Clause
// Inside fl_ctl: what accesses to registers do; which exist says fl_regs.

REG_READ: begin
	rq_rdata <= g_rdata;
	step <= g_exists ? REG_DONE : REG_NONE;
end
REG_WRITE:
	if (!g_write_ok)
		step <= REG_REFUSE;
	else if (g_eng)
		case (g_offset)
		`NIC_ENG_CTRL: begin
			o_enabled <= rq_wdata[`NIC_ENG_CTRL_ENABLE_LSB];
			if (rq_wdata[`NIC_ENG_CTRL_ENABLE_LSB] && !o_enabled)
				go_flush(REG_DONE);
			else
				step <= REG_DONE;
		end
		`NIC_ENG_IRQ_ENABLE: begin
			irq_enable <= rq_wdata[`NIC_ENG_IRQ_ENABLE_FAULT_LSB];
			step <= REG_DONE;
		end
		`NIC_ENG_FLT_POP: step <= `DEV_ERR_POP && rq_wdata != 32'd0 ? REG_DONE : FAULT_POP;
		default: begin
			side <= rq_wdata[`NIC_ENG_READY_SIDE_LSB];
			step <= FAULT_READY;
		end
		endcase
	else if (g_rxc)
		step <= RX_VERDICT;
	else if (g_offset == `NIC_CTX_CTRL)
		step <= TX_CONTROL;
	else if (t_state[ti] != `FL_TX_FREE)
		step <= REG_REFUSE;
	else begin
		step <= REG_DONE;
		case (g_offset)
		`NIC_CTX_DST:
			if ({24'd0, rq_wdata[`NIC_CTX_DST_NODE_MSB:`NIC_CTX_DST_NODE_LSB]} >= NODES)
				step <= REG_REFUSE;
			else begin
				t_node[ti] <= rq_wdata[`NIC_CTX_DST_NODE_LSB +: 4];
				t_qpn[ti] <= rq_wdata[`NIC_CTX_DST_QPN_MSB:`NIC_CTX_DST_QPN_LSB];
			end
		`NIC_CTX_LEN:
			if (rq_wdata == 32'd0 || rq_wdata > block_bytes)
				step <= REG_REFUSE;
			else
				t_len[ti] <= rq_wdata[16:0];
		`NIC_CTX_STREAM: t_stream[ti] <= rq_wdata[14:0];
		`NIC_CTX_LVA: t_lva[ti][31:0] <= rq_wdata;
		`NIC_CTX_LVA + 12'd4: t_lva[ti][63:32] <= rq_wdata;
		`NIC_CTX_RVA: t_rva[ti][31:0] <= rq_wdata;
		`NIC_CTX_RVA + 12'd4: t_rva[ti][63:32] <= rq_wdata;
		`NIC_CTX_RKEY: t_rkey[ti] <= rq_wdata;
		`NIC_CTX_LEFT: t_left[ti][31:0] <= rq_wdata;
		`NIC_CTX_LEFT + 12'd4: t_left[ti][63:32] <= rq_wdata;
		`NIC_CTX_REF: t_ref[ti] <= rq_wdata;
		`NIC_CTX_XFER: t_xfer[ti] <= rq_wdata;
		`NIC_CTX_SRC: t_src[ti] <= rq_wdata;
		default: t_block[ti] <= rq_wdata;
		endcase
	end
REG_REFUSE: begin
	trace_bad_reg;
	step <= REG_NONE;
end
REG_DONE, REG_NONE: step <= IDLE;
