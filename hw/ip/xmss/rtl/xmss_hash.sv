// A hash core with ports of one width for any number of rounds a cycle: message words by lanes of
// 64 bits, the state by rows of 128 bits. It wraps `sha2_core`.
//
// Rows of the state enter and leave from the last to the first, as in `sha2_core`. Commands, lanes
// and states have valid and ready. Reset and `wipe_i` drop the block and the places in it.
// Hardening is that of `sha2_core`; the counters here have none.

`include "assert.svh"

module xmss_hash
  import xmss_pkg::*;
  import sha2_pkg::*;
#(
  // Rounds of a compression in a cycle: 1, 2 or 4.
  parameter int unsigned RoundsPerCycle = 1,
  // 1 lets a hash begin while the state of the hash before leaves.
  parameter bit          Overlaps       = 1'b0,
  // 0 builds a core that continues from an illegal state.
  parameter bit          Hardened       = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Drops the block.
  input  logic        wipe_i,
  // The core is in an illegal state, until reset.
  output logic        error_o,

  // Commands of `sha2_core`.
  input  logic        cmd_valid_i,
  output logic        cmd_ready_o,
  input  cmd_e        cmd_i,

  // Two words of the message, the first word in the upper bits.
  input  logic        lane_valid_i,
  output logic        lane_ready_o,
  input  logic [63:0] lane_i,

  // A row of a state from outside. `load_next_o` takes it, and `load_last_o` takes the last row,
  // which is the first one of the state.
  input  logic        load_valid_i,
  output logic        load_next_o,
  output logic        load_last_o,
  // The row that is needed.
  output logic        load_row_o,
  input  row_t        load_i,

  // The state of the hash before: after a command for it, and with `Overlaps` also while the next
  // hash begins.
  // A row of the state, or one word of either half.
  output logic        save_valid_o,
  input  logic        save_ready_i,
  // This is the last part.
  output logic        save_last_o,
  // The row that the part belongs to.
  output logic        save_row_o,
  // The part has the upper word, the lower word or both words of each half of the row.
  output logic [1:0]  save_halves_o,
  output row_t        save_o
);
  // Bits that the core takes of a message, and of either half of a state, in a cycle.
  localparam int unsigned LaneBits = 32 * RoundsPerCycle;

  logic core_msg_valid, core_msg_ready, in_valid, in_ready, out_valid, out_ready;
  logic [LaneBits-1:0] core_msg;
  logic [1:0][LaneBits-1:0] in_state, out_state;
  // A lane knows this by its own state.
  logic unused_idle;

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

  // One round a cycle: the core takes one word a cycle, so a lane and a row are split in two.
  if (RoundsPerCycle == 1) begin : g_one
    // The lower word of a lane is next.
    logic second_q;
    // Words of a half that have passed, from the last one.
    logic [1:0] load_q, save_q;
    // The state that enters, a word of either half.
    logic [31:0] word_high, word_low;

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

    // Position in a lane and in both states.
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
  // Two rounds a cycle: lanes and rows have the width of the core.
  end else if (RoundsPerCycle == 2) begin : g_two
    // The first row is next.
    logic load_q, save_q;

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

    // Row of both states that is next.
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
    // Four rounds a cycle: two lanes are a word of the core, and both rows enter and leave at once.
    // Both rows are taken before the word, because the second lane may come from the same memory
    // and a core begins with state and word together.
    logic first_valid_q, save_q;
    // The lane that waits for the second lane.
    logic [63:0] first_q;
    // The number of rows that wait, one-hot.
    logic [1:0] rows_q;
    // The rows that wait. The last row of the state comes first.
    row_t last_row_q, first_row_q, first_row;

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

  // A state that enters ends with its first row.
  `ASSERT(RowsEndWithTheFirst_A, load_last_o |-> !load_row_o)
  // A state that leaves ends with its first row.
  `ASSERT(ASaveEndsWithTheFirst_A, save_valid_o && save_last_o |-> !save_row_o)
  // A core with an error takes no command and shows no state.
  `ASSERT(AnErrorOffersNothing_A, error_o |-> !cmd_ready_o && !save_valid_o)
endmodule
