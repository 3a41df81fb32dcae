// Walks chains: each step hashes I, q, i, j and the value before, which is one block (RFC 8554 §4.6).
//
// The value of the next chain is loaded during the last step of a chain, so that steps follow each other without a
// cycle between them. The end of a chain goes from the core into the memory, all other values into a slot.

`include "assert.svh"

module lms_lane
  import xmss_pkg::*;
  import lms_pkg::*;
  import sha2_pkg::*;
#(
  parameter bit Hardened = 1'b1
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         wipe_i,  // drops everything
  output logic         error_o, // until reset

  // Of the signature.
  input  logic [127:0] identifier_i,
  input  logic [31:0]  index_i,     // q
  input  logic         is_short_i,  // 24 bytes
  input  logic [7:0]   last_i,      // the largest digit

  input  logic         job_valid_i,  // a chain whose value is in the memory
  output logic         job_ready_o,
  input  chain_t job_i,

  // Chains whose ends are not in the memory.
  output logic [2:0]      holds_o,
  output logic [2:0][8:0] chain_o,
  output logic         step_o,  // a step was computed

  // The memory: rows to read, which come a cycle after the grant, and ends to write.
  output logic         read_valid_o,
  input  logic         read_ready_i,
  output place_t       read_place_o,
  output logic         read_row_o,
  input  row_t         read_data_i,
  output logic         write_valid_o,
  input  logic         write_ready_i,
  output place_t       write_place_o,

  // The hash core.
  output logic         cmd_valid_o,
  input  logic         cmd_ready_i,
  output logic         lane_valid_o,
  input  logic         lane_ready_i,
  output logic [63:0]  lane_o,
  input  logic         block_end_i,
  input  logic         awaits_i,
  input  logic         save_valid_i,
  output logic         save_ready_o,
  input  logic         save_row_i,
  input  row_t         save_i
);
  // A [6,3,3] code, as in `sha2_control`.
  typedef enum logic [5:0] {
    StIdle  = 6'b001011,
    StIssue = 6'b010101,  // offers the block of a step
    StFeed  = 6'b011110,
    StError = 6'b110011
  } state_e;
  state_e state_d;
  (* fsm_encoding = "none" *) state_e state_q;

  logic in_idle, in_issue, in_feed;
  assign in_idle  = state_q == StIdle;
  assign in_issue = state_q == StIssue;
  assign in_feed  = state_q == StFeed;
  assign error_o  = ~(in_idle | in_issue | in_feed);

  // --- the value of the next chain ---
  chain_t next_q;
  logic next_valid_q, next_set_q, fetches, fetched_q, fetched_row_q, loaded, takes_job;
  logic [1:0] load_q;  // rows that were asked for

  assign read_valid_o = next_valid_q & ~load_q[1];
  assign read_place_o = ValuePlace + PlaceBits'(next_q.chain);
  assign read_row_o   = load_q[0];
  assign fetches      = read_valid_o & read_ready_i;
  assign loaded       = next_valid_q & load_q[1] & ~fetched_q;

  // A row is in its slot a cycle after it was read.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      next_q        <= '0;
      next_valid_q  <= 1'b0;
      next_set_q    <= 1'b0;
      load_q        <= '0;
      fetched_q     <= 1'b0;
      fetched_row_q <= 1'b0;
    end else if (wipe_i) begin
      next_valid_q <= 1'b0;
      load_q       <= '0;
      fetched_q    <= 1'b0;
    end else begin
      fetched_q     <= fetches;
      fetched_row_q <= load_q[0];
      if (fetches) load_q <= load_q + 2'd1;
      if (takes_job) begin
        next_valid_q <= 1'b0;
        next_set_q   <= ~next_set_q;
      end
      if (job_valid_i && job_ready_o) begin
        next_q       <= job_i;
        next_valid_q <= 1'b1;
        load_q       <= '0;
      end
    end
  end

  // --- the chain that is walked ---
  logic [8:0] chain_q, end_q;  // of the step, and of the end that is still in the core
  logic [7:0] step_q;          // j
  logic       set_q, ends_q;   // the slot of the value; what comes out of the core is the end of a chain
  logic       is_last, walked; // the last step of a chain; its block is fed

  assign is_last   = step_q + 8'd1 == last_i;
  assign walked    = block_end_i & is_last;
  assign takes_job = loaded & (in_idle | walked) & ~wipe_i & ~error_o;
  // A chain is taken late, so that the others find a lane that is free sooner, and when no state comes into the slots.
  assign job_ready_o = ~next_valid_q & (in_idle | (in_feed & is_last)) & ~wipe_i;
  assign step_o      = block_end_i;
  assign cmd_valid_o = in_issue;

  // A block for each step.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle:  state_d = StIdle;
      StIssue: if (cmd_ready_i) state_d = StFeed;
      StFeed:  if (block_end_i) state_d = is_last ? StIdle : StIssue;
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StIdle;
    endcase
    if (takes_job) state_d = StIssue;
    if (wipe_i && !error_o) state_d = StIdle;
  end

  // The step, and what becomes of its result.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      chain_q <= '0;
      end_q   <= '0;
      step_q  <= '0;
      set_q   <= 1'b0;
      ends_q  <= 1'b0;
    end else begin
      state_q <= state_d;
      if (block_end_i) begin
        step_q <= step_q + 8'd1;
        ends_q <= is_last;
        end_q  <= chain_q;
      end
      if (takes_job) begin
        chain_q <= next_q.chain;
        step_q  <= next_q.digit;
        set_q   <= next_set_q;
      end
      if (wipe_i) ends_q <= 1'b0;
    end
  end

  assign holds_o = {awaits_i & ends_q, ~in_idle, next_valid_q};
  assign chain_o = {end_q, chain_q, next_q.chain};

  // --- results ---
  assign write_valid_o = save_valid_i & ends_q;
  assign write_place_o = EndPlace + PlaceBits'(end_q);
  assign save_ready_o  = ends_q ? write_ready_i : ~fetched_q;

  logic saves;  // into the slot
  row_t slot_data;
  logic [2:0] at_q;
  assign saves = save_valid_i & save_ready_o & ~ends_q;

  lms_slots u_slots (
    .clk_i, .rst_ni,
    .write_i       (fetched_q | saves),
    .write_row_i   (fetched_q ? {3'b0, next_set_q, fetched_row_q} : {3'b0, set_q, save_row_i}),
    .write_halves_i(2'b11),
    .write_data_i  (fetched_q ? read_data_i : save_i),
    .read_row_i    ({3'b0, set_q, at_q[0]}),
    .read_data_o   (slot_data)
  );

  // --- lanes of the block: 16, 4, 2 and 1 bytes are before the value, which is so shifted by a byte ---
  logic        active_q, valid_q, loads, is_value, is_mark;
  logic [55:0] carry_q;  // of a pair, what is left for the next lane
  logic [63:0] lane_q, pair;

  assign is_value = (at_q >= 3'd2) & (at_q < (is_short_i ? 3'd5 : 3'd6));
  assign is_mark  = at_q == (is_short_i ? 3'd5 : 3'd6);
  assign pair     = (at_q[2] ? slot_data.high : slot_data.low);
  assign loads    = active_q & (~valid_q | lane_ready_i) & ~(is_value & awaits_i);
  assign lane_valid_o = valid_q;
  assign lane_o       = lane_q;

  // The next lane waits in a register.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      valid_q  <= 1'b0;
      at_q     <= '0;
      carry_q  <= '0;
      lane_q   <= '0;
    end else if (wipe_i) begin
      active_q <= 1'b0;
      valid_q  <= 1'b0;
      at_q     <= '0;
      carry_q  <= '0;
      lane_q   <= '0;
    end else begin
      if (lane_ready_i) valid_q <= 1'b0;
      if (loads) begin
        valid_q  <= 1'b1;
        at_q     <= at_q + 3'd1;
        active_q <= at_q != 3'd7;
        carry_q  <= (at_q == 3'd1) ? {index_i, 7'b0, chain_q, step_q} : is_value ? pair[55:0] : '0;
        unique case (at_q)
          3'd0:    lane_q <= identifier_i[127:64];
          3'd1:    lane_q <= identifier_i[63:0];
          3'd7:    lane_q <= is_short_i ? 64'd376 : 64'd440;
          default: lane_q <= {carry_q, is_value ? pair[63:56] : {is_mark, 7'b0}};
        endcase
      end
      if (takes_job || (block_end_i && !is_last)) active_q <= 1'b1;
    end
  end

  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  `ASSERT(AnErrorTakesNoJob_A, error_o |-> !job_ready_o && !cmd_valid_o)
  // A chain at its end has no step: it would be walked around.
  `ASSERT(AChainHasAStep_A, takes_job |-> next_q.digit < last_i)
  `ASSERT(AStepIsBeforeTheEnd_A, in_issue |-> step_q < last_i)
  `ASSERT(AJobBeginsWithItsValue_A, takes_job |-> load_q[1] && !fetched_q)
  // The slot of the step would get the value of the next chain.
  `ASSERT(ASetInUseIsNotLoaded_A, fetched_q && !in_idle |-> set_q != next_set_q)
  `ASSERT(ALaneWaits_A, lane_valid_o && !lane_ready_i && !wipe_i |=> lane_valid_o && $stable(lane_o))
  `ASSERT(RowsAreNotLost_A, fetched_q |-> next_valid_q)
endmodule
