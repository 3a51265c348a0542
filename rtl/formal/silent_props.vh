// SPDX-License-Identifier: BSD-2-Clause
// fl_silent finds the sender that has been silent for longest, and none that it may not; see
// rd_props.vh. The contexts are looked at one after the other, so two stand for all.
// sizes: NRXC=2
	(* anyconst *) reg [3:0] PROP;
	(* anyconst *) reg [5:0] contexts;
	(* anyseq *) reg [1:0] may;		// whose context may be taken away

	reg begun;
	initial begun = 0;
	always @(posedge clk)
		begun <= 1;

	// What fl_ctl keeps to: who looks waits for the end, and nothing else happens meanwhile.
	reg asked;
	reg [1:0] may_was;
	always @* begin
		assume (begun || rst);
		assume (contexts >= 1 && contexts <= 2 && i_rx_contexts == contexts);
		assume (si_look >= contexts || si_may == may[si_look[0]]);
		assume (!(heard && si_valid) && index < contexts);
		if (asked)
			assume (si_valid && may == may_was);
	end
	always @(posedge clk) begin
		asked <= si_valid && !si_done && !rst;
		may_was <= may;
	end

	wire [31:0] age0 = none - since[0], age1 = none - since[1];
	wire [63:0] ages = {age1, age0};
	wire [31:0] age = ages[32 * si_index[0] +: 32];
	reg passed;			// those that were looked at are not silent for longer
	integer k;
	always @* begin
		passed = 1;
		for (k = 0; k < 2; k = k + 1)
			if (k < at && may[k] && ages[32 * k +: 32] > longest)
				passed = 0;
	end
	(* keep *) wire sound = rst || (looks == asked && at <= contexts && (looks || at == 0) &&
		(si_found ? looks && si_index < at && may[si_index[0]] && longest == age &&
			    longest >= PATIENCE : longest == PATIENCE - 1) && (!looks || passed));

	always @* if (begun && !rst) begin
		assert (sound);
		// P1 who is found may be taken away, and has been silent for long enough
		if (PROP == 1 && si_done && si_found)
			assert (may[si_index[0]] && si_index < contexts && age >= PATIENCE);
		// P2 nobody else that may be taken away has been silent for longer
		for (k = 0; k < 2; k = k + 1)
			if (PROP == 2 && si_done && k < contexts && may[k] &&
			    ages[32 * k +: 32] >= PATIENCE)
				assert (si_found && age >= ages[32 * k +: 32]);
		// P3 it ends: one context a cycle
		if (PROP == 3 && looks)
			assert (at <= contexts && (si_done || at < contexts));
	end
