// SPDX-License-Identifier: BSD-2-Clause
// What fl_tx never does, whatever it is given to send; see rd_props.vh.
// cut: i_crc
	(* anyconst *) reg [3:0] PROP;

	reg begun;
	initial begun = 0;
	always @(posedge clk)
		begun <= 1;

	// What ctl and the board keep to.
	reg icrc_was;
	always @(posedge clk)
		icrc_was <= i_icrc;
	always @* begin
		assume (begun || rst);
		if (begun)
			assume (i_icrc == icrc_was);
		if (tp_start)
			assume (!tp_busy && tp_plen <= 4096);
	end

	// Beside the module: what is to leave.
	reg due;			// a packet was started, its last beat was not taken
	reg [12:0] bytes;		// of it, that were not taken
	reg was;
	reg [152:0] beat;

	always @(posedge clk) begin
		if (m_axis_tvalid && m_axis_tready) begin
			bytes <= bytes - 13'd16;
			if (m_axis_tlast)
				due <= 0;
		end
		if (tp_start) begin
			due <= 1;
			bytes <= tp_answer ? 13'd36 : 13'd64 + tp_plen;
		end
		if (rst)
			due <= 0;
		was <= m_axis_tvalid && !m_axis_tready && !rst;
		beat <= {m_axis_tdata, m_axis_tkeep, m_axis_tlast, m_axis_tdest};
	end

	// Bytes that are not in a beat yet: words of the body, what is carried, the ICRC.
	wire [12:0] to_make = bytes - (m_axis_tvalid ? 13'd16 : 13'd0);
	wire [12:0] to_read = {whole - number, rest};
	wire in_words = state == SEED || state == BODY;
	(* keep *) wire sound = state <= SETTLE &&
		(due == (state != IDLE || m_axis_tvalid)) &&
		(state != SEED || (number < 3 && !m_axis_tvalid && whole != 0 && whole <= 259 &&
				   bytes == {whole, rest} + 13'd16)) &&
		(state != BODY || (number < whole && whole <= 259 &&
				   to_make == to_read + 13'd16)) &&
		(state != REST || (rest != 0 && done < rest)) &&
		((state != REST && state != SETTLE && state != LAST) || to_make == 13'd16 + {9'b0, rest}) &&
		(state != OVER || (rest != 0 && to_make == {9'b0, rest})) &&
		(!m_axis_tvalid || state == IDLE ||
		 (!m_axis_tlast && m_axis_tkeep == 16'hFFFF && bytes > 16)) &&
		(!m_axis_tvalid || state != IDLE ||
		 (m_axis_tlast && bytes != 0 && bytes <= 16 &&
		  m_axis_tkeep == (bytes < 16 ? ~(16'hFFFF << bytes[3:0]) : 16'hFFFF)));

	always @* if (begun) begin
		assert (sound);
		// P1 what waits for TREADY does not change
		if (PROP == 1 && was)
			assert (m_axis_tvalid && beat ==
				{m_axis_tdata, m_axis_tkeep, m_axis_tlast, m_axis_tdest});
		// P2 busy is from a start to the last beat
		if (PROP == 2)
			assert (tp_busy == due);
		// P3 the last beat is where the packet's length says
		if (PROP == 3 && m_axis_tvalid)
			assert (m_axis_tlast == (bytes <= 16));
		// P4 its lanes are the bytes that are left, and all others are full
		if (PROP == 4 && m_axis_tvalid)
			assert (m_axis_tkeep == (bytes < 16 ? ~(16'hFFFF << bytes[3:0]) : 16'hFFFF));
	end
