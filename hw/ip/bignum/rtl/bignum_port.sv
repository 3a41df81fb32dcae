// Words of 32 bits in and out of the memory, whose words have 68, 34 or 17: one after the other, the lowest first.
//
// Words that came are kept below those that are not written yet: `keep_q` has `have_q` bits. The word at the address is
// written again with each one that comes, so that no end has to be announced.
//
// An operand is cleared when it is chosen, so that words that are not written are zeros. A word that comes is in the memory
// before the next one is taken.

`include "assert.svh"

module bignum_port
  import bignum_pkg::*;
#(
  parameter int unsigned W = 68,
  localparam int unsigned Parts    = LimbBits / W,
  localparam int unsigned AddrBits = $clog2(Limbs * Parts)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                clear_i,

  input  logic                select_valid_i,  // begins with the first word
  input  slot_t               select_slot_i,
  input  logic                select_writes_i, // clears it, and takes words; otherwise gives words
  input  logic                select_half_i,   // it has half of the words
  input  logic                in_valid_i,
  output logic                in_ready_o,      // and what was chosen may be written
  input  logic [31:0]         in_i,
  input  logic                out_ready_i,
  output logic                out_valid_o,
  output logic [31:0]         out_o,
  output logic                ready_o,         // for a choice
  output logic                full_o,          // all of its words came, or were given

  output logic                write_o,
  output logic [AddrBits-1:0] addr_o,
  output logic [W-1:0]        data_o,
  input  logic [W-1:0]        data_i           // a cycle after its address
);
  // Words of 32 bits and of the memory of an operand: 4,096 bits, and eight slots.
  localparam int unsigned Words    = 32'(MostBits) / 32;
  localparam int unsigned MemWords = NumberSlots * SlotLimbs * Parts;
  localparam int unsigned LeftBits = $clog2(MemWords);
  // A word of the memory and the rest of one of 32 bits.
  localparam int unsigned KeepBits = W + 32;
  localparam int unsigned HaveBits = $clog2(KeepBits + 1);

  typedef enum logic [4:0] {
    StNone  = 5'b00111,
    StClear = 5'b01001,
    StIn    = 5'b10010,
    StPut   = 5'b11100,  // a word, and the rest of the one that came
    StOut   = 5'b01110,
    StGet   = 5'b10101
  } state_e;

  (* fsm_encoding = "none" *) state_e state_q;
  logic [KeepBits-1:0] keep_q;
  logic [HaveBits-1:0] have_q;
  logic [AddrBits-1:0] addr_q;
  logic [LeftBits-1:0] left_q, lasts;
  logic [7:0]          words_q;
  logic                half_q;

  assign lasts = half_q ? LeftBits'(MemWords / 2 - 1) : LeftBits'(MemWords - 1);

  // Clears, then takes words; or keeps a word of 32 bits ready.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StNone;
      keep_q  <= '0;
      have_q  <= '0;
      addr_q  <= '0;
      left_q  <= '0;
      words_q <= '0;
      half_q  <= 1'b0;
    end else if (clear_i) begin
      state_q <= StNone;
      keep_q  <= '0;
      have_q  <= '0;
    end else if (select_valid_i) begin
      state_q <= select_writes_i ? StClear : StOut;
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
          if (left_q == '0) begin
            state_q <= StIn;
            addr_q  <= addr_q - AddrBits'(lasts);
          end
        end
        StIn: if (in_valid_i && in_ready_o) begin
          keep_q  <= keep_q | (KeepBits'(in_i) << have_q);
          have_q  <= have_q + HaveBits'(32);
          words_q <= words_q + 1'b1;
          state_q <= StPut;
        end
        StPut: begin
          if (have_q >= HaveBits'(W)) begin
            keep_q  <= keep_q >> W;
            have_q  <= have_q - HaveBits'(W);
            addr_q  <= addr_q + 1'b1;
            if (have_q == HaveBits'(W)) state_q <= StIn;
          end else begin
            state_q <= StIn;
          end
        end
        StOut: begin
          if (out_ready_i && out_valid_o) begin
            keep_q  <= keep_q >> 32;
            have_q  <= have_q - HaveBits'(32);
            words_q <= words_q + 1'b1;
          end else if (have_q < HaveBits'(32)) begin
            state_q <= StGet;
          end
        end
        StGet: begin
          keep_q  <= keep_q | (KeepBits'(data_i) << have_q);
          have_q  <= have_q + HaveBits'(W);
          addr_q  <= addr_q + 1'b1;
          state_q <= StOut;
        end
        default: state_q <= StNone;
      endcase
    end
  end

  // Words after the last place of an operand would be those of the next one.
  assign full_o      = words_q == (half_q ? 8'(Words / 2) : 8'(Words));
  assign in_ready_o  = (state_q == StIn) & ~full_o;
  // So would words after the last one of a result.
  assign out_valid_o = (state_q == StOut) & (have_q >= HaveBits'(32)) & ~full_o;
  // What is kept may be of an operand that was written before.
  assign out_o       = keep_q[31:0] & {32{out_valid_o}};
  assign ready_o     = state_q inside {StNone, StIn, StOut};

  assign write_o     = state_q inside {StClear, StPut};
  assign addr_o      = addr_q;
  assign data_o      = (state_q == StPut) ? keep_q[W-1:0] : '0;

  `ASSERT(NoWriteWhileReading_A, state_q inside {StOut, StGet} |-> !write_o)
  `ASSERT(NoMoreThanItsWords_A, words_q <= 8'(Words))
  `ASSERT(NoWordIsLost_A, in_valid_i && in_ready_o |=> state_q == StPut || $past(clear_i) || $past(select_valid_i))
  `ASSERT(KeepsAWordAndARest_A, have_q < HaveBits'(KeepBits))
endmodule
