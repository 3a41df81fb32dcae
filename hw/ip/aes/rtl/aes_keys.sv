// This module is the key schedule (FIPS 197 §5.2). It expands a key once and keeps all round keys.
//
// Words of the key are written to their places in the schedule, so there is no other copy of the key. The
// memory is distributed and cannot be cleared at once: a wipe overwrites it word by word, and until then no key
// counts as loaded. With round keys in memory both directions take the same time, and no block waits for its
// keys.
//
// Protocol: words are written and `expand_i` is given while `busy_o` is low. `len_i` has to be stable during an
// expansion. `stop_i` ends an expansion; what is in the schedule then is no key. The key of `round_i` is at the
// port in the same cycle while the module is idle.
//
// Time: an expansion makes a word in a cycle, and takes one cycle more to read the last word of the key: 41, 47
// or 53 cycles for 128, 192 or 256 bits.
//
// Reset: the module is idle. The memory has no reset. Hardening: the codes of the states differ in three bits,
// and index, phase and round constant have a copy. An upset ends in StError. `Hardened` = 0 removes this.

`include "assert.svh"

module aes_keys
  import aes_pkg::*;
#(
  // With `InRam` the four S-boxes are in block RAM.
  parameter bit InRam    = 1'b0,
  // With `Hardened` = 0 illegal states return to StIdle, and there is no copy.
  parameter bit Hardened = 1'b1
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  // These ports write a word of the key, or of what overwrites the schedule. It is taken while the module is
  // not busy.
  input  logic       write_i,
  input  logic [5:0] index_i,
  input  word_t      word_i,

  // These ports control an expansion. The length is stable during it. A stop comes from an abort or an error
  // elsewhere.
  input  logic       expand_i,
  input  key_len_e   len_i,
  input  logic       stop_i,
  output logic       busy_o,
  // An error stays until reset.
  output logic       error_o,

  // This is the round whose key is read while the module is idle. The key is there in the same cycle.
  input  logic [3:0] round_i,
  output block_t     key_o
);
  // Any two codes differ in three bits.
  typedef enum logic [4:0] {
    // StIdle waits for `expand_i`.
    StIdle   = 5'b00110,
    // StFirst takes one cycle, in which it reads the last word of the key.
    StFirst  = 5'b01001,
    // StExpand makes a word in each cycle, and ends after the last word.
    StExpand = 5'b10101,
    // StError waits for a reset.
    StError  = 5'b11010
  } state_e;

  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );

  // This is the index of the word that is made.
  logic [5:0] index_d, index_q;
  logic [5:0] old_index, last_index;
  // The phase is the index of the word modulo Nk.
  logic [2:0] phase_d, phase_q;
  // The round constant is a power of x (§5.2, table 5).
  logic [7:0] rcon_d, rcon_q;
  // This is w[i - 1], the word before.
  word_t      previous_d, previous_q;
  word_t      old, sub, sub_out, mixed, expanded;
  logic       in_idle, in_first, in_expand, is_start, is_middle, write, differs;
  // This is the index of a word of the schedule, with the bank in the lower bits.
  logic [5:0] write_index;
  word_t      write_word;
  logic [3:0] read_round;
  block_t     read_key;

  assign in_idle   = state_q == StIdle;
  assign in_first  = state_q == StFirst;
  assign in_expand = state_q == StExpand;
  assign busy_o    = ~in_idle;
  assign error_o   = ~(in_idle | in_first | in_expand);

  // The old word is w[i - Nk], or w[Nk - 1] in the first cycle.
  assign old_index  = in_first ? 6'(key_words(len_i)) - 6'd1 : index_q - 6'(key_words(len_i));
  assign old        = read_key[4*old_index[1:0] +: 4];
  assign last_index = {rounds(len_i), 2'b11};

  // These are the conditions of algorithm 2 in §5.2, where `phase_q` is i mod Nk.
  assign is_start  = phase_q == 3'd0;
  // SubWord without RotWord in the middle of eight words belongs to AES-256 only.
  assign is_middle = (len_i == Key256) & (phase_q == 3'd4);
  if (InRam) begin : g_ram
    for (genvar i = 0; i < 4; i += 2) begin : g_sub
      aes_sbox_ram u_sbox (
        .clk_i, .rst_ni,
        .load_i   (1'b1),
        .inverse_i(1'b0),
        .byte_i   (previous_d[8*i +: 16]),
        .byte_o   (sub[8*i +: 16])
      );
    end
  end else begin : g_tables
    for (genvar i = 0; i < 4; i++) begin : g_sub
      aes_sbox u_sbox (.inverse_i(1'b0), .byte_i(previous_q[8*i +: 8]), .byte_o(sub[8*i +: 8]));
    end
  end
  // RotWord moves the lowest byte to the top, because byte 0 of a word is the lowest one.
  assign sub_out   = is_start ? {sub[7:0], sub[31:8]} : sub;
  assign mixed     = (is_start | is_middle) ? sub_out : previous_q;
  assign expanded  = old ^ mixed ^ {24'b0, rcon_q & {8{is_start}}};

  // This register is cleared when the module is idle, because it is a word of the schedule.
  assign previous_d = in_first ? old : in_expand ? expanded : '0;

  // This block chooses the next word and its phase. A stop ends the expansion, and an upset has priority over
  // all.
  always_comb begin
    state_d = state_q;
    index_d = index_q;
    phase_d = phase_q;
    rcon_d  = rcon_q;
    unique case (state_q)
      StIdle: if (expand_i) begin
        state_d = StFirst;
        index_d = 6'(key_words(len_i));
        phase_d = '0;
        rcon_d  = 8'h01;
      end
      StFirst: state_d = StExpand;
      StExpand: begin
        index_d = index_q + 1'b1;
        phase_d = (phase_q == 3'(key_words(len_i) - 4'd1)) ? '0 : phase_q + 1'b1;
        if (is_start) rcon_d = xtime(rcon_q);
        if (index_q == last_index) state_d = StIdle;
        // These indices do not exist, so an upset has made one of them.
        if (Hardened && index_q > last_index) state_d = StError;
      end
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StIdle;
    endcase
    if (stop_i && !error_o) state_d = StIdle;
    if (differs && Hardened) state_d = StError;
  end

  // The copy detects an upset of index, phase and round constant, which would change round keys.
  register_copy #(.Width(17), .Hardened(Hardened)) u_copy (
    .clk_i, .rst_ni,
    .load_i (1'b1),
    .next_i ({index_d, phase_d, rcon_d}),
    .value_i({index_q, phase_q, rcon_q}),
    .differs_o(differs)
  );

  // The control has a reset, because an expansion that began by itself after a reset would write where a key
  // may be.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      index_q    <= '0;
      phase_q    <= '0;
      rcon_q     <= '0;
      previous_q <= '0;
    end else begin
      index_q <= index_d;
      phase_q <= phase_d;
      rcon_q  <= rcon_d;
      previous_q <= previous_d;
    end
  end

  // The memory has one write port, for words from outside or of the schedule, and one read port, for a round or
  // an old word. An error does not keep a wipe from writing.
  assign write       = ((in_idle | error_o) & write_i) | in_expand;
  assign write_index = in_expand ? index_q : index_i;
  assign write_word  = in_expand ? expanded : word_i;
  assign read_round  = in_idle ? round_i : old_index[5:2];
  assign key_o       = read_key;

  // Each column has a bank of its own with its own enable.
  for (genvar c = 0; c < 4; c++) begin : g_bank
    word_t memory [16];
    always_ff @(posedge clk_i) begin
      if (write && write_index[1:0] == 2'(c)) memory[write_index[5:2]] <= write_word;
    end
    assign read_key[4*c +: 4] = memory[read_round];
  end

  // An upset of the schedule is not forgotten before a reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // An expansion that was not stopped has made all words, so no round uses an old key.
  `ASSERT(ExpandsToTheLastWord_A, $fell(in_expand) && !$past(stop_i) && !error_o |-> $past(index_q == last_index))
  // No word of the schedule stays in the register of the expansion.
  `ASSERT(KeepsNoWord_A, in_idle && $past(in_idle) |-> previous_q == '0)
  // The core is not idle in an error, so no block is taken.
  `ASSERT(AnErrorIsBusy_A, error_o |-> busy_o)
  // A stop ends an expansion in one cycle, so a wipe can begin.
  `ASSERT(AStopIsTaken_A, stop_i && !error_o && !differs |=> in_idle)
  // The round constant is a power of x, which is never zero: two rounds without one would have related keys.
  `ASSERT(ARoundConstantIsNotZero_A, in_expand |-> rcon_q != '0 || differs)
  // SubWord and RotWord belong to fixed places of the schedule (FIPS 197 §5.2).
  `ASSERT(ThePhaseIsOfTheIndex_A, in_expand && !differs |-> index_q % 6'(key_words(len_i)) == 6'(phase_q))
endmodule
