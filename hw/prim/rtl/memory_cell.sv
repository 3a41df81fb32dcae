// A small memory with a port for writes and one for reads: the leaf cell of queues.
//
// A word is written with the clock edge. A read shows its word in the same cycle, so that the memory can be built from
// look-up tables, latches or flip-flops, and not from a block RAM. There is no reset: what was never written may have
// any value. Like `flop_cell`, this file is what a chip replaces if it needs other storage.

module memory_cell #(
  parameter int unsigned  Width = 1,
  parameter int unsigned  Depth = 2,
  localparam int unsigned AtBits = $clog2(Depth)
) (
  input  logic              clk_i,
  input  logic              write_i,
  input  logic [AtBits-1:0] write_at_i,
  input  logic [Width-1:0]  write_data_i,
  input  logic [AtBits-1:0] read_at_i,
  output logic [Width-1:0]  read_data_o
);
  logic [Width-1:0] words_q [Depth];

  always_ff @(posedge clk_i) begin
    if (write_i) words_q[write_at_i] <= write_data_i;
  end
  assign read_data_o = words_q[read_at_i];
endmodule
