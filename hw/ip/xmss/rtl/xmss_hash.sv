// A hash core with ports of one width for any number of rounds a cycle: message words by 64 bits, the state by rows.
//
// Rows of the state come and go from the last to the first, as in `sha2_core`.

`include "assert.svh"

module xmss_hash
  import xmss_pkg::*;
  import sha2_pkg::*;
#(
  parameter int unsigned RoundsPerCycle = 1,
  parameter bit          Overlaps       = 1'b0,
  parameter bit          Hardened       = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        wipe_i,  // drops the block
  output logic        error_o,

  input  logic        cmd_valid_i,
  output logic        cmd_ready_o,
  input  cmd_e        cmd_i,

  input  logic        lane_valid_i,  // two words of the message
  output logic        lane_ready_o,
  input  logic [63:0] lane_i,  // the first word in the upper bits

  input  logic        load_valid_i,  // a row of the state, from outside
  output logic        load_next_o,   // the row was taken
  output logic        load_last_o,   // and it was the first one
  output logic        load_row_o,  // the one that is needed
  input  row_t        load_i,

  // The state of the hash before: when it is asked for, and with `Overlaps` also while the next hash begins.
  output logic        save_valid_o,  // a row of the state, or a word of either half
  input  logic        save_ready_i,
  output logic        save_last_o,  // the last part
  output logic        save_row_o,  // the row that it is of
  output logic [1:0]  save_halves_o, // the upper word and the lower word of each half of the row
  output row_t        save_o
);
  localparam int unsigned LaneBits = 32 * RoundsPerCycle;

  logic core_msg_valid, core_msg_ready, in_valid, in_ready, out_valid, out_ready;
  logic [LaneBits-1:0] core_msg;
  logic [1:0][LaneBits-1:0] in_state, out_state;
  logic unused_idle;  // a lane knows it by its own state

  sha2_core #(
    .WordBits      (32),
    .RoundsPerCycle(RoundsPerCycle),
    .Overlaps      (Overlaps),
    .Hardened      (Hardened)
  ) u_core (
    .clk_i, .rst_ni,
    .cmd_valid_i, .cmd_ready_o, .cmd_i, .is_384_i(1'b0), .wipe_i, .idle_o(unused_idle), .error_o,
    .msg_valid_i(core_msg_valid), .msg_ready_o(core_msg_ready), .msg_i(core_msg),
    .state_valid_i(in_valid), .state_ready_o(in_ready), .state_i(in_state),
    .state_valid_o(out_valid), .state_ready_i(out_ready), .state_o(out_state)
  );

  if (RoundsPerCycle == 1) begin : g_one
    logic second_q;              // the lower word of a lane
    logic [1:0] load_q, save_q;  // words of a half, from the last one
    logic [31:0] word_high, word_low;  // of the state that enters: one of either half

    assign core_msg_valid = lane_valid_i;
    assign core_msg       = second_q ? lane_i[31:0] : lane_i[63:32];
    assign lane_ready_o   = core_msg_ready & second_q;
    assign in_valid       = load_valid_i;
    assign load_row_o     = ~load_q[1];
    assign load_next_o    = in_ready & load_valid_i & load_q[0];
    assign load_last_o    = load_next_o & load_q[1];
    assign word_high      = load_q[0] ? load_i.high[63:32] : load_i.high[31:0];
    assign word_low       = load_q[0] ? load_i.low[63:32] : load_i.low[31:0];
    assign in_state       = {word_high, word_low};
    assign save_valid_o   = out_valid;
    assign out_ready      = save_ready_i;
    assign save_row_o     = ~save_q[1];
    assign save_halves_o  = save_q[0] ? 2'b10 : 2'b01;
    assign save_last_o    = &save_q;
    assign save_o         = '{high: {2{out_state[1]}}, low: {2{out_state[0]}}};

    // Places in a lane and in the two states.
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        second_q <= 1'b0;
        load_q   <= '0;
        save_q   <= '0;
      end else if (wipe_i) begin
        second_q <= 1'b0;
        load_q   <= '0;
        save_q   <= '0;
      end else begin
        if (core_msg_valid && core_msg_ready) second_q <= ~second_q;
        if (in_valid && in_ready)             load_q   <= load_q + 2'd1;
        if (out_valid && out_ready)           save_q   <= save_q + 2'd1;
      end
    end
  end else if (RoundsPerCycle == 2) begin : g_two
    logic load_q, save_q;  // the first row is next

    assign core_msg_valid = lane_valid_i;
    assign core_msg       = lane_i;
    assign lane_ready_o   = core_msg_ready;
    assign in_valid       = load_valid_i;
    assign load_row_o     = ~load_q;
    assign load_next_o    = in_ready & load_valid_i;
    assign load_last_o    = load_next_o & load_q;
    assign in_state       = {load_i.high, load_i.low};
    assign save_valid_o   = out_valid;
    assign out_ready      = save_ready_i;
    assign save_row_o     = ~save_q;
    assign save_halves_o  = 2'b11;
    assign save_last_o    = save_q;
    assign save_o         = '{high: out_state[1], low: out_state[0]};

    // Which row of the two states is next.
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        load_q <= 1'b0;
        save_q <= 1'b0;
      end else if (wipe_i) begin
        load_q <= 1'b0;
        save_q <= 1'b0;
      end else begin
        if (in_valid && in_ready)   load_q <= ~load_q;
        if (out_valid && out_ready) save_q <= ~save_q;
      end
    end
  end else begin : g_four
    // Two lanes are a word of the core, and both rows come and go at once. Both rows are taken before the word: the second
    // lane may come from the same memory, and a core begins with state and word together.
    logic first_valid_q, save_q;
    logic [63:0] first_q;  // the lane that waits for the second one
    logic [1:0] rows_q;  // how many rows wait
    row_t last_row_q, first_row_q, first_row;  // the last row came first

    assign core_msg_valid = lane_valid_i & first_valid_q;
    assign core_msg       = {first_q, lane_i};
    assign lane_ready_o   = ~first_valid_q | core_msg_ready;
    assign in_valid       = rows_q[1] | (load_valid_i & rows_q[0]);
    assign load_row_o     = ~rows_q[0];
    assign load_next_o    = load_valid_i & ~rows_q[1];
    assign load_last_o    = load_next_o & rows_q[0];
    assign first_row      = rows_q[1] ? first_row_q : load_i;
    assign in_state       = {first_row.high, last_row_q.high, first_row.low, last_row_q.low};
    assign save_valid_o   = out_valid;
    assign out_ready      = save_ready_i & save_q;
    assign save_row_o     = ~save_q;
    assign save_halves_o  = 2'b11;
    assign save_last_o    = save_q;
    assign save_o.high    = save_q ? out_state[1][127:64] : out_state[1][63:0];
    assign save_o.low     = save_q ? out_state[0][127:64] : out_state[0][63:0];

    // The first lane of two, and the rows that wait.
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        first_valid_q <= 1'b0;
        first_q       <= '0;
        rows_q        <= '0;
        last_row_q    <= '0;
        first_row_q   <= '0;
        save_q        <= 1'b0;
      end else if (wipe_i) begin
        first_valid_q <= 1'b0;
        first_q       <= '0;
        rows_q        <= '0;
        last_row_q    <= '0;
        first_row_q   <= '0;
        save_q        <= 1'b0;
      end else begin
        if (lane_valid_i && lane_ready_o) first_valid_q <= ~first_valid_q;
        if (lane_valid_i && !first_valid_q) first_q <= lane_i;
        if (load_next_o && !rows_q[0]) last_row_q  <= load_i;
        if (load_last_o)               first_row_q <= load_i;
        if (in_valid && in_ready) rows_q <= '0;
        else if (load_next_o)     rows_q <= rows_q[0] ? 2'b10 : 2'b01;
        if (save_valid_o && save_ready_i) save_q <= ~save_q;
      end
    end
  end

  `ASSERT(RowsEndWithTheFirst_A, load_last_o |-> !load_row_o)
  `ASSERT(ASaveEndsWithTheFirst_A, save_valid_o && save_last_o |-> !save_row_o)
  `ASSERT(AnErrorOffersNothing_A, error_o |-> !cmd_ready_o && !save_valid_o)
endmodule
