// For campaigns of upsets: the stream writer, with a model of the memory around it that judges every byte.
//
// The message is as long as the destination, and the byte at a place of it is a function of the place, so that none is like another.
// The memory takes addresses and beats, and answers, in cycles that a shift register chooses.

`include "assert.svh"

module stream_writer_watched
  import hartlock_axi_pkg::*;
#(
  parameter bit Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  axil_req_t   axil_i,
  output axil_resp_t  axil_o,

  input  logic        str_valid_i,
  output logic        str_ready_o,
  input  logic [63:0] str_data_i,
  input  logic        str_last_i,
  input  logic [3:0]  str_bytes_i,

  // The destination: at most 256 bytes.
  input  logic [31:0] first_i,
  input  logic [8:0]  length_i,
  input  logic        is_told_i,  // software takes the message for written
  output logic        strays_o,   // a byte outside of the destination changes
  output logic        lacks_o,    // software was told so of a message of which a byte is missing or wrong
  output logic        alert_o
);
  localparam int unsigned Most = 256;

  logic        aw_valid, aw_ready, w_valid, w_ready, b_valid, irq;
  logic [31:0] aw_addr;
  logic [7:0]  aw_len, w_strb;
  logic [63:0] w_data;

  axi_req_t  req;
  axi_resp_t resp;
  assign aw_valid = req.aw_valid;
  assign aw_addr  = req.aw.addr;
  assign aw_len   = req.aw.len;
  assign w_valid  = req.w_valid;
  assign w_data   = req.w_data;
  assign w_strb   = req.w_strb;
  always_comb begin
    resp          = '0;
    resp.aw_ready = aw_ready;
    resp.w_ready  = w_ready;
    resp.b_valid  = b_valid;
  end

  stream_writer #(.LowestPage(524288), .Hardened(Hardened)) u_writer (
    .clk_i, .rst_ni,
    .axil_i, .axil_o,
    .str_valid_i, .str_ready_o, .str_data_i, .str_last_i, .str_bytes_i,
    .str_abort_i(1'b0),
    .axi_o      (req),
    .axi_i      (resp),
    .lifecycle_i(4'd0),
    .irq_o      (irq),
    .alert_o
  );

  // What a subordinate need not look at: the length of a burst says which beat is its last one.
  logic unused;
  assign unused = ^{irq, aw_len[7:3], req};

  // --- memory: one burst at a time, of which beats come after the address or with it ---
  logic [15:0] stalls_q;
  logic        holds_q, takes, moves, ends;
  logic [31:0] at_q, at;
  logic [2:0]  left_q, left;
  logic [3:0]  due_q;
  logic [Most-1:0] right_q;

  // x^16 + x^14 + x^13 + x^11 + 1.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) stalls_q <= 16'hace1;
    else         stalls_q <= {stalls_q[14:0], stalls_q[15] ^ stalls_q[13] ^ stalls_q[12] ^ stalls_q[10]};
  end

  assign aw_ready = ~holds_q & stalls_q[0];
  assign w_ready  = (holds_q | (aw_valid & aw_ready)) & (stalls_q[3] | stalls_q[7]);
  assign b_valid  = (due_q != '0) & stalls_q[5];
  assign takes    = aw_valid & aw_ready;
  assign moves    = w_valid & w_ready;
  assign at       = holds_q ? at_q : aw_addr;
  assign left     = holds_q ? left_q : aw_len[2:0];
  assign ends     = moves & (left == '0);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      holds_q <= 1'b0;
      at_q    <= '0;
      left_q  <= '0;
      due_q   <= '0;
    end else begin
      holds_q <= (holds_q | takes) & ~ends;
      at_q    <= at + (moves ? 32'd8 : 32'd0);
      left_q  <= left - 3'(moves);
      due_q   <= due_q + 4'(ends) - 4'(b_valid);
    end
  end

  // --- bytes ---
  function automatic logic [7:0] byte_of(logic [7:0] place);
    return 8'(place * 8'd167) + 8'd29;
  endfunction

  logic [31:0] place [8];
  logic [7:0]  is_place;
  always_comb begin
    strays_o = 1'b0;
    for (int unsigned lane = 0; lane < 8; lane++) begin
      place[lane]    = at + lane - first_i;
      is_place[lane] = place[lane] < 32'(length_i);
      strays_o      |= moves & w_strb[lane] & ~is_place[lane];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) right_q <= '0;
    else begin
      for (int unsigned lane = 0; lane < 8; lane++) begin
        if (moves && w_strb[lane] && is_place[lane]) begin
          right_q[place[lane][7:0]] <= w_data[8*lane +: 8] == byte_of(place[lane][7:0]);
        end
      end
    end
  end

  always_comb begin
    lacks_o = 1'b0;
    for (int unsigned byte_place = 0; byte_place < Most; byte_place++) begin
      lacks_o |= is_told_i & (9'(byte_place) < length_i) & ~right_q[byte_place];
    end
  end

  `ASSERT(NoByteStrays_A, 1'b1 |=> !strays_o)
endmodule
