// Moves the bytes of words to another place: words that begin and end anywhere become words without
// gaps.
//
// A word comes with the offset of its first byte and its number of bytes. Its bytes are rotated to
// the next free place. Those that fill a word leave together with the bytes that were kept, and the
// others are kept for the next word.
//
// Interface: valid and ready on both sides. A word that is offered stays until it is taken or
// `set_i` discards it. Latency is one cycle and throughput one word a cycle; the rest after an end
// takes one cycle more if it does not fit. Reset and `set_i` empty the block. Nothing here is
// hardened.

`include "assert.svh"

module dma_align (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Enables the block. While it is clear, no word is taken.
  input  logic        run_i,
  // `set_i` discards everything and puts the next byte at `place_i`.
  input  logic        set_i,
  input  logic [2:0]  place_i,

  // Words to be moved: data, the offset of the first byte, the number of bytes, at most up to the
  // end of the word.
  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [63:0] in_data_i,
  input  logic [2:0]  in_first_i,
  input  logic [3:0]  in_bytes_i,
  // The last word of a range. All bytes that are kept leave with it, or in a word after it.
  input  logic        in_end_i,

  // Words without gaps.
  output logic        out_valid_o,
  input  logic        out_ready_i,
  output logic [63:0] out_data_o,
  // Offset of the first byte. It is zero in all words but the first after `set_i`.
  output logic [2:0]  out_first_o,
  // Offset of the last byte plus one. It is 8 in all words but the last.
  output logic [3:0]  out_bytes_o,
  output logic        out_end_o
);
  // `kept_q` has the bytes of the next word and `data_q` the word that is offered. `fill_q` is the
  // number of places before the next free one, `first_q` the first valid byte of the next word, and
  // `flush_q` says that the rest leaves next.
  logic [63:0] kept_q, data_q;
  logic [2:0]  fill_d, fill_q, first_d, first_q, out_first_q;
  logic [3:0]  bytes_q;
  logic [4:0]  sum;
  logic flush_d, flush_q, valid_d, valid_q, end_q, has_space, takes, fills, leaves;

  assign has_space  = ~valid_q | out_ready_i;
  assign in_ready_o = run_i & has_space & ~flush_q;
  assign takes      = in_valid_i & in_ready_o;
  assign sum        = {2'b0, fill_q} + {1'b0, in_bytes_i};
  assign fills      = sum[3] | sum[4];
  assign leaves     = (takes & (fills | in_end_i)) | (flush_q & run_i & has_space);

  // Bytes in front of the free place come from those that were kept; all bytes do while the rest
  // leaves. The rotation is by four and two bytes, and then by one, because the first two together
  // take one look-up table a bit.
  logic [7:0]  is_kept;
  logic [2:0]  turn;
  logic [63:0] by_pairs, turned, merged;
  assign turn = fill_q - in_first_i;
  always_comb begin
    unique case (turn[2:1])
      2'd0:    by_pairs = in_data_i;
      2'd1:    by_pairs = {in_data_i[47:0], in_data_i[63:48]};
      2'd2:    by_pairs = {in_data_i[31:0], in_data_i[63:32]};
      default: by_pairs = {in_data_i[15:0], in_data_i[63:16]};
    endcase
    turned = turn[0] ? {by_pairs[55:0], by_pairs[63:56]} : by_pairs;
    for (int unsigned i = 0; i < 8; i++) begin
      is_kept[i]       = (3'(i) < fill_q) | flush_q;
      merged[8*i +: 8] = is_kept[i] ? kept_q[8*i +: 8] : turned[8*i +: 8];
    end
  end

  // The place of the next byte. A last word that does not fit into the word that leaves has a rest,
  // which leaves in a word of its own.
  always_comb begin
    fill_d  = fill_q;
    flush_d = flush_q;
    first_d = leaves ? '0 : first_q;
    valid_d = leaves | (valid_q & ~out_ready_i);
    if (takes) begin
      fill_d  = sum[2:0];
      flush_d = in_end_i & fills & (sum[2:0] != '0);
    end else if (leaves) begin
      flush_d = 1'b0;
    end
    if (set_i) begin
      fill_d  = place_i;
      first_d = place_i;
      flush_d = 1'b0;
      valid_d = 1'b0;
    end
  end

  // Control is reset. Bytes need no reset, because `fill_q` and `valid_q` say which of them are
  // valid.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fill_q      <= '0;
      first_q     <= '0;
      flush_q     <= 1'b0;
      valid_q     <= 1'b0;
      end_q       <= 1'b0;
      bytes_q     <= '0;
      out_first_q <= '0;
    end else begin
      fill_q  <= fill_d;
      first_q <= first_d;
      flush_q <= flush_d;
      valid_q <= valid_d;
      if (leaves) begin
        end_q       <= flush_q | (in_end_i & (sum <= 5'd8));
        bytes_q     <= flush_q ? {1'b0, fill_q} : fills ? 4'd8 : sum[3:0];
        out_first_q <= first_q;
      end
    end
  end

  // Each kept byte has its own enable, so that the rotated word needs no further multiplexer.
  always_ff @(posedge clk_i) begin
    if (leaves) data_q <= merged;
    for (int unsigned i = 0; i < 8; i++) begin
      if (takes && (fills || 3'(i) >= fill_q)) kept_q[8*i +: 8] <= turned[8*i +: 8];
    end
  end

  assign out_valid_o = valid_q;
  assign out_data_o  = data_q;
  assign out_first_o = out_first_q;
  assign out_bytes_o = bytes_q;
  assign out_end_o   = end_q;

  // An offered word does not change until it is taken (valid and ready).
  `ASSERT(AWordStays_A, out_valid_o && !out_ready_i && !set_i |=>
          out_valid_o && $stable({out_data_o, out_bytes_o, out_end_o, out_first_o}))
  // Only the last word may have fewer than eight bytes; a gap would shift the message.
  `ASSERT(OnlyTheEndIsShort_A, 1'b1 |=> !(out_valid_o && !out_end_o) || (out_bytes_o == 4'd8))
  // The caller never claims bytes past the end of its word.
  `ASSERT(AWordHasAtMostEightBytes_A, 1'b1 |=> !(in_valid_i) || (in_bytes_i <= 4'd8 - {1'b0, in_first_i}))
  // While a rest waits no new word is taken, so the rest cannot be overwritten.
  `ASSERT(ARestFollows_A, 1'b1 |=> !(flush_q) || (!in_ready_o && fill_q != '0))
endmodule
