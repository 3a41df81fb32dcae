// This module moves words of 32 bits into and out of the memory, whose words have 68, 34 or 17 bits, one after
// the other, the lowest first.
//
// Words that came are kept below those that are not written yet: `keep_q` has `have_q` valid bits. The word at
// the address is written again with each word that comes, so that no end has to be announced. An operand is
// cleared when it is chosen, so that words that are not written are zeros.
//
// Protocol: `select_valid_i` chooses a number while `ready_o` is high. Then `in_*` takes its words, or `out_*`
// gives them. `full_o` says that all words came or were given. A word that comes is in the memory before the
// next one is taken.
//
// Time: clearing takes as many cycles as the number has words in the memory, 64 to 256. A word takes two to
// four cycles.
//
// Reset: nothing is chosen. An illegal state leads to StNone, where no word is moved.

`include "assert.svh"

module bignum_port
  import bignum_pkg::*;
#(
  // `W` is the width of a word of the memory.
  parameter int unsigned W = 68,
  localparam int unsigned Parts    = LimbBits / W,
  localparam int unsigned AddrBits = $clog2(Limbs * Parts)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // A clear forgets the choice, and all words that are kept here.
  input  logic                clear_i,

  // A choice begins with the first word of the number.
  input  logic                select_valid_i,
  input  slot_t               select_slot_i,
  // The number is cleared, and takes words; otherwise it gives words.
  input  logic                select_writes_i,
  // The number has half of the words.
  input  logic                select_half_i,
  // These are words that come.
  input  logic                in_valid_i,
  // A word is taken: the chosen number may be written, and is not complete.
  output logic                in_ready_o,
  input  logic [31:0]         in_i,
  // These are words that leave.
  input  logic                out_ready_i,
  output logic                out_valid_o,
  output logic [31:0]         out_o,
  // A number may be chosen.
  output logic                ready_o,
  // All words of the number came or were given.
  output logic                full_o,

  // These ports are the memory, whose words come a cycle after their addresses.
  output logic                write_o,
  output logic [AddrBits-1:0] addr_o,
  output logic [W-1:0]        data_o,
  input  logic [W-1:0]        data_i
);
  // An operand has this many words of 32 bits and of the memory: 4,096 bits, and eight slots.
  localparam int unsigned Words    = 32'(MostBits) / 32;
  localparam int unsigned MemWords = NumberSlots * SlotLimbs * Parts;
  localparam int unsigned LeftBits = $clog2(MemWords);
  // This is room for a word of the memory and the rest of a word of 32 bits.
  localparam int unsigned KeepBits = W + 32;
  localparam int unsigned HaveBits = $clog2(KeepBits + 1);

  typedef enum logic [4:0] {
    // StNone waits for a choice.
    StNone  = 5'b00111,
    // StClear writes zeros, and ends after the last word.
    StClear = 5'b01001,
    // StIn waits for a word.
    StIn    = 5'b10010,
    // StPut writes a word of the memory, and ends when less than a word is kept; then that rest has been
    // written as well.
    StPut   = 5'b11100,
    // StOut shows a word of 32 bits, if there is one.
    StOut   = 5'b01110,
    // StGet takes a word of the memory, and goes back to StOut.
    StGet   = 5'b10101
  } state_e;

  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StNone), .MinDistance(2)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  logic [KeepBits-1:0] keep_q;
  logic [HaveBits-1:0] have_q;
  logic [AddrBits-1:0] addr_q;
  logic [LeftBits-1:0] left_q, lasts;
  logic [7:0]          words_q;
  logic                half_q;

  // This is the number of words of the memory, less one.
  assign lasts = half_q ? LeftBits'(MemWords / 2 - 1) : LeftBits'(MemWords - 1);

  // A choice begins anew from every state, and a clear ends everything.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StNone:  ;
      StClear: if (left_q == '0) state_d = StIn;
      StIn:    if (in_valid_i && in_ready_o) state_d = StPut;
      StPut:   if (have_q <= HaveBits'(W)) state_d = StIn;
      StOut:   if (!(out_ready_i && out_valid_o) && have_q < HaveBits'(32)) state_d = StGet;
      StGet:   state_d = StOut;
      default: state_d = StNone;
    endcase
    if (select_valid_i) state_d = select_writes_i ? StClear : StOut;
    if (clear_i)        state_d = StNone;
  end

  // This block clears a number and takes its words, or keeps a word of 32 bits ready.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      keep_q  <= '0;
      have_q  <= '0;
      addr_q  <= '0;
      left_q  <= '0;
      words_q <= '0;
      half_q  <= 1'b0;
    end else if (clear_i) begin
      keep_q  <= '0;
      have_q  <= '0;
    end else if (select_valid_i) begin
      keep_q  <= '0;
      have_q  <= '0;
      addr_q  <= AddrBits'(select_slot_i) << $clog2(SlotLimbs * Parts);
      left_q  <= select_half_i ? LeftBits'(MemWords / 2 - 1) : LeftBits'(MemWords - 1);
      words_q <= '0;
      half_q  <= select_half_i;
    end else begin
      unique case (state_q)
        StClear: begin
          addr_q <= addr_q + 1'b1;
          left_q <= left_q - 1'b1;
          if (left_q == '0) addr_q <= addr_q - AddrBits'(lasts);
        end
        StIn: if (in_valid_i && in_ready_o) begin
          keep_q  <= keep_q | (KeepBits'(in_i) << have_q);
          have_q  <= have_q + HaveBits'(32);
          words_q <= words_q + 1'b1;
        end
        StPut: begin
          if (have_q >= HaveBits'(W)) begin
            keep_q  <= keep_q >> W;
            have_q  <= have_q - HaveBits'(W);
            addr_q  <= addr_q + 1'b1;
          end
        end
        StOut: begin
          if (out_ready_i && out_valid_o) begin
            keep_q  <= keep_q >> 32;
            have_q  <= have_q - HaveBits'(32);
            words_q <= words_q + 1'b1;
          end
        end
        StGet: begin
          keep_q  <= keep_q | (KeepBits'(data_i) << have_q);
          have_q  <= have_q + HaveBits'(W);
          addr_q  <= addr_q + 1'b1;
        end
        default: ;
      endcase
    end
  end

  // Words after the last place of a number would belong to the next number.
  assign full_o      = words_q == (half_q ? 8'(Words / 2) : 8'(Words));
  assign in_ready_o  = (state_q == StIn) & ~full_o;
  // So would words after the last one of a result.
  assign out_valid_o = (state_q == StOut) & (have_q >= HaveBits'(32)) & ~full_o;
  // The words that are kept may belong to an operand that was written before, so they are hidden.
  assign out_o       = keep_q[31:0] & {32{out_valid_o}};
  assign ready_o     = state_q inside {StNone, StIn, StOut};

  assign write_o     = state_q inside {StClear, StPut};
  assign addr_o      = addr_q;
  assign data_o      = (state_q == StPut) ? keep_q[W-1:0] : '0;

  // Reading a result changes nothing.
  `ASSERT(NoWriteWhileReading_A, state_q inside {StOut, StGet} |-> !write_o)
  // No word is moved past the end of a number.
  `ASSERT(NoMoreThanItsWords_A, words_q <= 8'(Words))
  // A word that was taken is written, unless a clear or another choice ends the sequence.
  `ASSERT(NoWordIsLost_A, in_valid_i && in_ready_o |=> state_q == StPut || $past(clear_i) || $past(select_valid_i))
  // A word of the memory and a rest fit the register, so no bit of them is lost.
  `ASSERT(KeepsAWordAndARest_A, have_q < HaveBits'(KeepBits))
endmodule
