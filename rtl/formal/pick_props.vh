// SPDX-License-Identifier: BSD-2-Clause
// fl_pick is round robin: whoever waits is passed over by each other one once at most. It has no
// clock, so this is all that there is to it.
// sizes: N=16 W=4
// sizes: N=5 W=3
	(* anyconst *) reg [3:0] PROP;
	(* anyconst *) reg [W-1:0] w;		// any of those that take part
	wire begun = 1;
	(* keep *) wire sound = 1;
	wire [W:0] before_w = w > last ? w - last : w + N - last;
	wire [W:0] before_it = index > last ? index - last : index + N - last;

	always @* begin
		assume (last < N && w < N);
		// P1 somebody is served if anybody is ready, and he is one of those
		if (PROP == 1)
			assert (any == (ready != 0) && (!any || (index < N && ready[index])));
		// P2 nobody who is ready stands between the last one and this one
		if (PROP == 2 && ready[w])
			assert (before_it <= before_w);
	end
