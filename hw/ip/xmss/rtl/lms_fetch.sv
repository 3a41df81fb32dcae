// Brings what is hashed into the ring of slots: values from the memory, and words of the message.
//
// First C and the message, which is the key of the next tree or comes from outside; later the ends of all chains, and
// the path. A value is read when it exists and the ring has room, so the memory is read ahead of the hash.

`include "assert.svh"

module lms_fetch
  import xmss_pkg::*;
  import lms_pkg::*;
#(
  parameter bit Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        wipe_i,
  output logic        error_o,  // until reset

  input  logic        message_i,      // C and the message come
  input  logic        root_i,         // ends of chains, and the path
  input  logic        from_memory_i,  // the message is a key
  input  address_t    key_i,          // at this place
  input  logic        is_short_i,     // 24 bytes
  input  logic [4:0]  height_i,
  input  logic [4:0]  levels_i,       // values of the path that came

  // The next end of a chain.
  input  logic        end_valid_i,
  output logic        end_ready_o,
  input  logic        end_moved_i,  // it is in the memory of ends
  input  address_t    end_chain_i,
  input  logic        ends_last_i,    // no more ends come after this one

  // Words of the message, the first byte in the upper bits.
  input  logic        msg_valid_i,
  output logic        msg_ready_o,
  input  logic [63:0] msg_i,
  input  logic        msg_last_i,
  input  logic [3:0]  msg_bytes_i,  // of the last word

  output logic        read_valid_o,
  input  logic        read_ready_i,
  output address_t    read_place_o,
  output logic        read_row_o,
  input  row_t        read_data_i,  // a cycle after the grant
  input  row_t        end_data_i,   // the same row of the ends

  // The ring: eight slots.
  input  logic [2:0]  head_i,     // the slot that is read
  input  logic        blocked_i,  // a word cannot be written
  output logic        write_o,
  output logic [3:0]  write_row_o,
  output logic [1:0]  write_halves_o,
  output row_t        write_data_o,
  output logic [2:0]  pairs_o,  // that are complete with this write
  output logic        complete_o,  // the message, or all ends, are in the ring
  output logic        ended_o,     // the last word of the message is
  output logic [3:0]  bytes_o   // and had so many bytes
);
  // A [6,3,3] code.
  typedef enum logic [5:0] {
    StIdle   = 6'b001011,
    StRandom = 6'b010101,
    StKey    = 6'b011110,
    StWords  = 6'b100110,
    StEnds   = 6'b101101,
    StPath   = 6'b111000,
    StError  = 6'b110011
  } state_e;
  state_e state_d;
  (* fsm_encoding = "none" *) state_e state_q;

  logic in_idle, in_random, in_key, in_words, in_ends, in_path;
  assign in_idle   = state_q == StIdle;
  assign in_random = state_q == StRandom;
  assign in_key    = state_q == StKey;
  assign in_words  = state_q == StWords;
  assign in_ends   = state_q == StEnds;
  assign in_path   = state_q == StPath;
  assign error_o   = ~(in_idle | in_random | in_key | in_words | in_ends | in_path);

  logic [2:0] tail_q;          // the slot that is written
  logic [1:0] pair_q;          // the pair of a message that is next
  logic [4:0] count_q;         // values of the path, or parts of a key, that were asked for
  logic       row_q, fetched_q, fetched_row_q, whole_q, moved_q;  // the row is of a key, which has four pairs; of an end
  logic       has_room, there, fetches, ends_value, moves;

  assign has_room = tail_q + 3'd1 != head_i;
  // Whether the value exists.
  always_comb begin
    unique case (1'b1)
      in_random, in_key: there = 1'b1;
      in_ends:           there = end_valid_i;
      in_path:           there = levels_i > count_q;
      default:           there = 1'b0;
    endcase
  end
  // The next value is asked for when the one before is in its slot.
  assign read_valid_o = there & has_room & ~fetched_q;
  assign read_row_o   = row_q;
  assign fetches      = read_valid_o & read_ready_i;
  assign ends_value   = fetches & row_q;
  assign end_ready_o  = in_ends & ends_value;
  assign complete_o   = (in_idle | in_path) & ~fetched_q;

  // Where it is.
  always_comb begin
    unique case (1'b1)
      in_key:  read_place_o = key_i | 9'(count_q[0]);
      in_ends: read_place_o = end_chain_i;
      in_path: read_place_o = SiblingPlace | 9'(count_q);
      default: read_place_o = RandomizerPlace;
    endcase
  end

  // What is brought, in order.
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

  // The one of the padding follows the last byte, if the word has room for it (FIPS 180-4 §5.1.1).
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

  // Positions in the ring and in what is read.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q       <= StIdle;
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
      state_q <= state_d;
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

  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  `ASSERT(TheRingIsNotOverrun_A, write_o |-> tail_q + 3'd1 != head_i)
  `ASSERT(OneWriteAtATime_A, moves |-> !fetched_q)
endmodule
