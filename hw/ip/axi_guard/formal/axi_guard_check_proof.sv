// Proof of `axi_guard_check`: a burst that passes has no byte in a closed range.
//
// `beat_i` is any beat of the request: what it touches is what AMBA AXI §A3.4.1 says, written without the shortcuts of the
// block. Ranges are whole pages, so the page of a beat decides.

module axi_guard_check_proof
  import axi_guard_pkg::*;
#(
  parameter bit WholeBursts = 1'b1
) (
  input logic                   clk_i,
  input range_t [NumRanges-1:0] ranges_i,
  input logic [31:0]            addr_i,
  input logic [7:0]             len_i,
  input logic [2:0]             size_i,
  input logic [1:0]             burst_i,
  input logic [7:0]             beat_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic passes;
  axi_guard_check #(.WholeBursts(WholeBursts)) dut (
    .clk_i, .rst_ni, .ranges_i, .addr_i, .len_i, .size_i, .burst_i, .passes_o (passes)
  );

  logic is_closed;
  always_comb begin
    is_closed = 1'b0;
    for (int unsigned i = 0; i < NumRanges; i++) begin
      if (addr_i[31:12] >= ranges_i[i].first && addr_i[31:12] <= ranges_i[i].last) is_closed = 1'b1;
    end
  end

  // The first byte of the beat; a wrapping burst stays within the block of its size.
  logic [31:0] start, beat;
  logic [11:0] step, whole;
  always_comb begin
    start = (addr_i >> size_i[1:0]) << size_i[1:0];
    step  = {4'b0, beat_i} << size_i[1:0];
    whole = ({4'b0, len_i} + 12'd1) << size_i[1:0];
    unique case (burst_i)
      2'b00:   beat = start;
      2'b01:   beat = start + {20'b0, step};
      default: beat = (start & ~{20'b0, whole - 12'd1}) | ((start + {20'b0, step}) & {20'b0, whole - 12'd1});
    endcase
  end
  always_comb begin
    if (passes) begin
      assert (size_i <= 3'd3 && burst_i != 2'b11);
      if (burst_i == 2'b00) assert (len_i <= 8'd15);
      if (burst_i == 2'b10) assert ((whole & (whole - 12'd1)) == '0 && len_i inside {[1:15]} && start == addr_i);
      // Every beat is in the page of the address, and this page is not closed.
      if (beat_i <= len_i) assert (beat[31:12] == addr_i[31:12]);
      assert (!is_closed);
    end
  end
endmodule
