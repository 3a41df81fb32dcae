// The key schedule (FIPS 197 §5.2): expands a key once, a word a cycle, and keeps all round keys.
//
// Words of the key are written to their places of the schedule, so there is no other copy of it. The memory is
// distributed and cannot be cleared at once: a wipe overwrites it word by word, and until then no key is there. With
// round keys in memory both directions take the same time, and no block waits for its keys.

`include "assert.svh"

module aes_keys
  import aes_pkg::*;
#(
  parameter bit InRam    = 1'b0,  // S-boxes are block RAM
  parameter bit Hardened = 1'b1
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  // A word of the key, or of what overwrites the schedule. Taken while not busy.
  input  logic       write_i,
  input  logic [5:0] index_i,
  input  word_t      word_i,

  input  logic       expand_i,
  input  key_len_e   len_i,       // stable during expansion
  input  logic       stop_i,      // an abort, or an error elsewhere
  output logic       busy_o,
  output logic       error_o,     // until reset

  input  logic [3:0] round_i,     // whose key is read while idle
  output block_t     key_o        // in the same cycle
);
  // Any two codes differ in three bits.
  typedef enum logic [4:0] {
    StIdle   = 5'b00110,
    StFirst  = 5'b01001,  // reads the last word of the key
    StExpand = 5'b10101,
    StError  = 5'b11010
  } state_e;

  state_e state_d;
  (* fsm_encoding = "none" *) state_e state_q;

  logic [5:0] index_d, index_q;              // of the word that is made
  logic [5:0] old_index, last_index;
  logic [2:0] phase_d, phase_q;              // its index modulo Nk
  logic [7:0] rcon_d, rcon_q;                // round constant, of the powers of x
  word_t      previous_d, previous_q;        // w[i - 1]
  word_t      old, sub, sub_out, mixed, expanded;
  logic       in_idle, in_first, in_expand, is_start, is_middle, write, differs;
  logic [5:0] write_index;  // of a word of the schedule: bank in the lower bits
  word_t      write_word;
  logic [3:0] read_round;
  block_t     read_key;

  assign in_idle   = state_q == StIdle;
  assign in_first  = state_q == StFirst;
  assign in_expand = state_q == StExpand;
  assign busy_o    = ~in_idle;
  assign error_o   = ~(in_idle | in_first | in_expand);

  // The word w[i - Nk], or in the first cycle w[Nk - 1].
  assign old_index  = in_first ? 6'(key_words(len_i)) - 6'd1 : index_q - 6'(key_words(len_i));
  assign old        = read_key[4*old_index[1:0] +: 4];
  assign last_index = {rounds(len_i), 2'b11};

  // Algorithm 2 of §5.2: `phase_q` is i mod Nk.
  assign is_start  = phase_q == 3'd0;
  // SubWord without RotWord in the middle of eight words is of AES-256 only.
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
  assign sub_out   = is_start ? {sub[7:0], sub[31:8]} : sub;
  assign mixed     = (is_start | is_middle) ? sub_out : previous_q;
  assign expanded  = old ^ mixed ^ {24'b0, rcon_q & {8{is_start}}};

  // Cleared when idle: it is a word of the schedule.
  assign previous_d = in_first ? old : in_expand ? expanded : '0;

  // The next word and its phase. A stop ends it; what is in the schedule then is no key.
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
        // Words that do not exist: an upset of the index.
        if (Hardened && index_q > last_index) state_d = StError;
      end
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StIdle;
    endcase
    if (stop_i && !error_o) state_d = StIdle;
    if (differs && Hardened) state_d = StError;
  end

  aes_copy #(.Bits(17), .Hardened(Hardened)) u_copy (
    .clk_i, .rst_ni,
    .load_i (1'b1),
    .next_i ({index_d, phase_d, rcon_d}),
    .value_i({index_q, phase_q, rcon_q}),
    .differs_o(differs)
  );

  // Reset, because an expansion that began by itself after a reset would write where a key may be.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= StIdle;
      index_q    <= '0;
      phase_q    <= '0;
      rcon_q     <= '0;
      previous_q <= '0;
    end else begin
      state_q <= state_d;
      index_q <= index_d;
      phase_q <= phase_d;
      rcon_q  <= rcon_d;
      previous_q <= previous_d;
    end
  end

  // One write port: words from outside, or of the schedule. One read port: the round, or an old word.
  // An error does not keep a wipe away.
  assign write       = ((in_idle | error_o) & write_i) | in_expand;
  assign write_index = in_expand ? index_q : index_i;
  assign write_word  = in_expand ? expanded : word_i;
  assign read_round  = in_idle ? round_i : old_index[5:2];
  assign key_o       = read_key;

  // A bank a column, each with an enable of its own.
  for (genvar c = 0; c < 4; c++) begin : g_bank
    word_t memory [16];
    always_ff @(posedge clk_i) begin
      if (write && write_index[1:0] == 2'(c)) memory[write_index[5:2]] <= write_word;
    end
    assign read_key[4*c +: 4] = memory[read_round];
  end

  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  `ASSERT(ExpandsToTheLastWord_A, $fell(in_expand) && !$past(stop_i) && !error_o |-> $past(index_q == last_index))
  `ASSERT(KeepsNoWord_A, in_idle && $past(in_idle) |-> previous_q == '0)
  // The core is not idle then, and no block is taken.
  `ASSERT(AnErrorIsBusy_A, error_o |-> busy_o)
  `ASSERT(AStopIsTaken_A, stop_i && !error_o && !differs |=> in_idle)
endmodule
