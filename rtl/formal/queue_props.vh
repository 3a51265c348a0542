// SPDX-License-Identifier: BSD-2-Clause
// fl_queue is a set in the order of the last push, whatever its user does and whenever a reset
// comes (see rd_props.vh). The sizes are small, since each entry is looked at: what is proved is
// the walk, of every key, place and order that fit.
// sizes: WIDTH=3 KEY=2 LOG2=3 KEEP=0
// sizes: WIDTH=3 KEY=2 LOG2=3 KEEP=1
	(* anyconst *) reg [3:0] PROP;
	localparam KEYS = 1 << KEY, REST = WIDTH - KEY;

	reg begun;
	initial begun = 0;
	always @(posedge clk)
		begun <= 1;

	// Beside the module: which keys are there, with what, and at which place from the head on.
	// With KEEP the head is apart: it stays what it is, and its key may be there once more.
	reg [KEYS-1:0] has;
	reg [KEYS*REST-1:0] what;
	reg [KEYS*LOG2-1:0] places;
	reg any;			// KEEP: there is a head
	reg [WIDTH-1:0] top;		// KEEP: the head
	reg [LOG2:0] age;		// cycles of this walk
	reg pushing;
	reg [WIDTH-1:0] entry_was;
	wire [KEY-1:0] key = entry[WIDTH-1 -: KEY];
	wire lone = KEEP != 0 && !any;	// a push makes the head
	wire [LOG2-1:0] old = places[LOG2 * key +: LOG2];	// of the entry's key, if it is there
	wire pops = pop && !walking;
	integer k, n;

	// What its user keeps to: a push stands until it is done; nothing is popped meanwhile, nor
	// where nothing is.
	always @* begin
		assume (begun || rst);
		if (pushing && !rst)
			assume (push && entry == entry_was);
		if (pop)
			assume (!push && !walking && count != 0);
	end

	always @(posedge clk) begin
		pushing <= push && !done && !rst;
		entry_was <= entry;
		age <= walking ? age + 1'b1 : 0;
		if (done && lone) begin
			any <= 1;
			top <= entry;
		end
		for (k = 0; k < KEYS; k = k + 1) begin
			if (done && !lone) begin
				if (k == key) begin
					has[k] <= 1;
					what[REST * k +: REST] <= entry[REST-1:0];
					places[LOG2 * k +: LOG2] <= has[key] ? count - 1'b1 : count;
				end else if (has[key] && places[LOG2 * k +: LOG2] > old) begin
					places[LOG2 * k +: LOG2] <= places[LOG2 * k +: LOG2] - 1'b1;
				end
			end
			if (pops) begin
				places[LOG2 * k +: LOG2] <= places[LOG2 * k +: LOG2] - 1'b1;
				if (has[k] && places[LOG2 * k +: LOG2] == KEEP) begin
					has[k] <= 0;
					if (KEEP != 0)
						top <= {k[KEY-1:0], what[REST * k +: REST]};
				end
				if (count == 1)
					any <= 0;
			end
		end
		if (rst) begin
			has <= 0;
			any <= 0;
		end
	end

	// Each key where it has to be: in the middle of a walk those between the older entry and the
	// walk have moved up by one.
	reg [LOG2-1:0] place_k, real_place;
	reg [LOG2:0] entries;
	reg placed;
	always @* begin
		placed = 1;
		entries = KEEP != 0 && any;
		for (k = 0; k < KEYS; k = k + 1)
			if (has[k]) begin
				entries = entries + 1'b1;
				place_k = places[LOG2 * k +: LOG2];
				real_place = first + place_k -
					     (walking && found && place_k > old && place_k < at);
				if ({1'b0, place_k} >= count || place_k < KEEP)
					placed = 0;
				if (!(walking && found && k == key) &&
				    ring[real_place] != {k[KEY-1:0], what[REST * k +: REST]})
					placed = 0;
				for (n = 0; n < k; n = n + 1)
					if (has[n] && places[LOG2 * n +: LOG2] == place_k)
						placed = 0;
			end
	end
	wire sound_walk = (pushing || !walking) && (!walking || (at <= count && push &&
		age <= count && at == age + (KEEP != 0 && any) &&
		found == (has[key] && {1'b0, old} < at)));
	(* keep *) wire sound = rst || (placed && count == entries && count <= KEYS + KEEP &&
		(KEEP == 0 ? !any : any == (count != 0)) && (!any || ring[first] == top) &&
		sound_walk);

	always @* if (begun) begin
		assert (sound);
		// P1 as many entries as keys, and the head that KEEP keeps
		if (PROP == 1)
			assert (count == entries);
		// P2 the head is the entry whose last push is the oldest
		for (k = 0; k < KEYS; k = k + 1)
			if (PROP == 2 && has[k] && places[LOG2 * k +: LOG2] == 0 && !walking)
				assert (head == {k[KEY-1:0], what[REST * k +: REST]});
		// P3 with KEEP the head does not change but by a pop
		if (PROP == 3 && KEEP != 0 && any)
			assert (head == top);
		// P4 a push ends: it takes a cycle for each entry, and one
		if (PROP == 4 && walking)
			assert (age <= count && (age != count || done));
		// P5 it never overflows
		if (PROP == 5 && done && !found)
			assert (!count[LOG2]);
	end
