// SPDX-License-Identifier: BSD-2-Clause
// fl_cells counts each cell of a block once; see rd_props.vh. y is either of two contexts, c any
// of its cells.
// sizes: NRXC=2 BLOCK_LOG2=14
	(* anyconst *) reg [3:0] PROP;
	(* anyconst *) reg y;
	(* anyconst *) reg [7:0] c;

	reg begun;
	initial begun = 0;
	always @(posedge clk)
		begun <= 1;

	// What fl_ctl keeps to: a task stands until it is done. A context is cleared before cells
	// are stored; what a reset has cut off is cleared again.
	reg asked, cleared, seen;
	reg [27:0] task_was;
	reg [10:0] total, counted;
	wire [27:0] task_now = {index, cl_clear, cl_cells, cl_cell, cl_empty};
	wire at_y = index == {4'd0, y};
	wire at_c = at_y && cl_cell == {2'd0, c};
	always @* begin
		assume (begun || rst);
		assume (index < 2 && cl_cell < 256 && cl_cells <= 256);
		if (asked)
			assume (cl_valid && task_now == task_was);
		if (cl_valid && !cl_clear && at_y)
			assume (cleared);
	end
	always @(posedge clk) begin
		asked <= cl_valid && !cl_done && !rst;
		task_was <= task_now;
		if (cl_valid && cl_clear && at_y) begin
			cleared <= cl_done;
			total <= cl_cells;
			counted <= 0;
			seen <= 0;
		end else if (cl_stored && at_y) begin
			counted <= counted + 1'b1;
			seen <= seen || at_c;
		end
		if (rst)
			cleared <= 0;
	end

	wire map_y = have[{y, c[7:6]}][c[5:0]];
	wire copying = state == COPY && at_c;
	(* keep *) wire sound = rst || ((state == IDLE) == !asked && state <= COPY &&
		(state != CLEAR || cl_clear) && (state != COPY || !cl_clear) &&
		(state == CLEAR ? word <= TOP : 1'b1) &&
		(!(state == CLEAR && at_y) ||
		 (!cleared && lacks[y] == total && total == cl_cells && counted == 0 && !seen &&
		  (c[7:6] >= word || !map_y))) &&
		(!cleared || (lacks[y] == total - counted && map_y == (seen || copying) &&
			      !(seen && copying))));

	always @* if (begun && !rst) begin
		assert (sound);
		// P1 a cell is counted once
		if (PROP == 1 && cl_stored && at_c)
			assert (!seen && cleared);
		// P2 who stores a cell finds it there afterwards
		if (PROP == 2 && cl_done && !cl_clear && at_c)
			assert (seen || cl_stored);
		// P3 a block is full when as many cells were counted as it has
		if (PROP == 3 && cleared && at_y)
			assert (o_full == (counted == total));
		// P4 only a cell that is lacking, and has a payload, is copied
		if (PROP == 4 && st_req && at_c)
			assert (cl_valid && !cl_clear && !seen && !cl_empty);
	end
