// Brings the operands of long hashes into the ring of slots: values from the memory, and words of
// the message.
//
// First come C and the message, which is the key of the next tree or comes from outside; later the
// ends of all chains, and the path. A value is read when it exists and the ring has room, so the
// memory is read ahead of the hash.
//
// Interface: `message_i` and `root_i` are strobes that begin one of the two sequences. Reads, ends
// and words have valid and ready. A row is in the ring two cycles after its request was granted, a
// word one cycle after it was taken. Reset and `wipe_i` drop everything.
//
// Hardening: any two states differ in three bits, and every other code is `error_o` until reset.

`include "assert.svh"

module lms_fetch
  import xmss_pkg::*;
  import lms_pkg::*;
#(
  // 0 builds a block that continues from an illegal state, to show that the tests detect it.
  parameter bit Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Drops everything.
  input  logic        wipe_i,
  // The state does not exist. This lasts until reset.
  output logic        error_o,

  // C and the message come next.
  input  logic        message_i,
  // The ends of chains, and the path, come next.
  input  logic        root_i,
  // The message is a key, at this place of the memory.
  input  logic        from_memory_i,
  input  address_t    key_i,
  // Values have 24 bytes.
  input  logic        is_short_i,
  // Height of the tree, and the number of values of the path that came.
  input  logic [4:0]  height_i,
  input  logic [4:0]  levels_i,

  // The next end of a chain, in order. It is a value of the signature or a row of the memory of
  // ends.
  input  logic        end_valid_i,
  output logic        end_ready_o,
  // The end is in the memory of ends.
  input  logic        end_moved_i,
  input  address_t    end_chain_i,
  // No more ends come after this one.
  input  logic        ends_last_i,

  // Words of the message, with the first byte in the upper bits.
  input  logic        msg_valid_i,
  output logic        msg_ready_o,
  input  logic [63:0] msg_i,
  input  logic        msg_last_i,
  // Number of bytes of the last word.
  input  logic [3:0]  msg_bytes_i,

  // Reads of both memories. A row comes in the cycle after its grant.
  output logic        read_valid_o,
  input  logic        read_ready_i,
  output address_t    read_place_o,
  output logic        read_row_o,
  input  row_t        read_data_i,
  // The same row of the memory of ends.
  input  row_t        end_data_i,

  // The ring of eight slots.
  // The slot that is read.
  input  logic [2:0]  head_i,
  // No word can be written in this cycle.
  input  logic        blocked_i,
  output logic        write_o,
  output logic [3:0]  write_row_o,
  output logic [1:0]  write_halves_o,
  output row_t        write_data_o,
  // Pairs that are complete with this write.
  output logic [2:0]  pairs_o,
  // The message, or all ends, are in the ring.
  output logic        complete_o,
  // The last word of the message is in the ring, and had this number of bytes.
  output logic        ended_o,
  output logic [3:0]  bytes_o
);
  // A [6,3,3] code: any two states differ in at least three bits.
  typedef enum logic [5:0] {
    // Waits for one of the two strobes.
    StIdle   = 6'b001011,
    // Reads C.
    StRandom = 6'b010101,
    // Reads the key that is the message, in two parts.
    StKey    = 6'b011110,
    // Takes words of the message, up to the last one.
    StWords  = 6'b100110,
    // Reads the ends of chains as they come.
    StEnds   = 6'b101101,
    // Reads the values of the path as they come.
    StPath   = 6'b111000,
    // Only a reset ends this state.
    StError  = 6'b110011
  } state_e;
  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );

  logic in_idle, in_random, in_key, in_words, in_ends, in_path;
  assign in_idle   = state_q == StIdle;
  assign in_random = state_q == StRandom;
  assign in_key    = state_q == StKey;
  assign in_words  = state_q == StWords;
  assign in_ends   = state_q == StEnds;
  assign in_path   = state_q == StPath;
  assign error_o   = ~(in_idle | in_random | in_key | in_words | in_ends | in_path);

  // The slot that is written.
  logic [2:0] tail_q;
  // The next pair of a message.
  logic [1:0] pair_q;
  // Values of the path, or parts of a key, that were requested.
  logic [4:0] count_q;
  // The row is part of a key, which has four pairs; the row is an end.
  logic       row_q, fetched_q, fetched_row_q, whole_q, moved_q;
  logic       has_room, there, fetches, ends_value, moves;

  // One slot stays free, so that a full ring does not look empty.
  assign has_room = tail_q + 3'd1 != head_i;
  // The next value exists.
  always_comb begin
    unique case (1'b1)
      in_random, in_key: there = 1'b1;
      in_ends:           there = end_valid_i;
      in_path:           there = levels_i > count_q;
      default:           there = 1'b0;
    endcase
  end
  // The next row is requested when the one before is in its slot.
  assign read_valid_o = there & has_room & ~fetched_q;
  assign read_row_o   = row_q;
  assign fetches      = read_valid_o & read_ready_i;
  assign ends_value   = fetches & row_q;
  assign end_ready_o  = in_ends & ends_value;
  assign complete_o   = (in_idle | in_path) & ~fetched_q;

  // The place of the next value.
  always_comb begin
    unique case (1'b1)
      in_key:  read_place_o = key_i | 9'(count_q[0]);
      in_ends: read_place_o = end_chain_i;
      in_path: read_place_o = SiblingPlace | 9'(count_q);
      default: read_place_o = RandomizerPlace;
    endcase
  end

  // The sequence of values.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle:   state_d = StIdle;
      StRandom: if (ends_value) state_d = from_memory_i ? StKey : StWords;
      StKey:    if (ends_value && count_q[0]) state_d = StIdle;
      StWords:  if (moves && msg_last_i) state_d = StIdle;
      StEnds:   if (ends_value && ends_last_i) state_d = StPath;
      StPath:   if (ends_value && count_q + 5'd1 == height_i) state_d = StIdle;
      StError:  state_d = StError;
      default:  state_d = Hardened ? StError : StIdle;
    endcase
    if (message_i && !error_o) state_d = StRandom;
    if (root_i && !error_o)    state_d = StEnds;
    if (wipe_i && !error_o)    state_d = StIdle;
  end

  // The marker of the padding follows the last byte, if the word has room for it (FIPS 180-4
  // §5.1.1).
  logic [63:0] ended;
  always_comb begin
    for (int i = 0; i < 8; i++) begin
      ended[63-8*i -: 8] = (4'(i) < msg_bytes_i) ? msg_i[63-8*i -: 8] : {4'(i) == msg_bytes_i, 7'b0};
    end
  end

  assign msg_ready_o = in_words & has_room & ~fetched_q & ~blocked_i;
  assign moves       = msg_valid_i & msg_ready_o;

  // A row from the memory, or a pair of the message.
  always_comb begin
    write_o        = fetched_q | moves;
    write_row_o    = {tail_q, fetched_row_q};
    write_halves_o = 2'b11;
    write_data_o   = moved_q ? end_data_i : read_data_i;
    pairs_o        = '0;
    if (fetched_q && fetched_row_q) pairs_o = (is_short_i & ~whole_q) ? 3'd3 : 3'd4;
    if (!fetched_q) begin
      write_row_o    = {tail_q, pair_q[0]};
      write_halves_o = {pair_q[1], ~pair_q[1]};
      write_data_o   = '{high: msg_last_i ? ended : msg_i, low: msg_last_i ? ended : msg_i};
      pairs_o        = 3'(moves);
    end
  end

  // Positions in the ring and in the values.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tail_q        <= '0;
      pair_q        <= '0;
      count_q       <= '0;
      row_q         <= 1'b0;
      fetched_q     <= 1'b0;
      fetched_row_q <= 1'b0;
      whole_q       <= 1'b0;
      moved_q       <= 1'b0;
      ended_o       <= 1'b0;
      bytes_o       <= '0;
    end else begin
      if (wipe_i || message_i || root_i) begin
        tail_q    <= '0;
        pair_q    <= '0;
        count_q   <= '0;
        row_q     <= 1'b0;
        fetched_q <= 1'b0;
        ended_o   <= 1'b0;
      end else begin
        fetched_q     <= fetches;
        fetched_row_q <= row_q;
        whole_q       <= in_key;
        moved_q       <= in_ends & end_moved_i;
        if (fetches) row_q <= ~row_q;
        if (ends_value && (in_key || in_path)) count_q <= count_q + 5'd1;
        if (moves) pair_q <= pair_q + 2'd1;
        if ((fetched_q && fetched_row_q) || (moves && pair_q == 2'd3)) tail_q <= tail_q + 3'd1;
        if (moves && msg_last_i) begin
          ended_o <= 1'b1;
          bytes_o <= msg_bytes_i;
        end
      end
    end
  end

  // An error lasts until reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // No slot is written before it was read.
  `ASSERT(TheRingIsNotOverrun_A, write_o |-> tail_q + 3'd1 != head_i)
  // The slots have one port for writes.
  `ASSERT(OneWriteAtATime_A, moves |-> !fetched_q)
endmodule
