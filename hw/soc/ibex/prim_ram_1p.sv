// Memory with one port, read in the cycle after the request, for Ibex's instruction cache.
//
// It has no reset and reports no error: the cache marks lines as valid in registers of its own.
module prim_ram_1p
  import prim_ram_1p_pkg::*;
#(
  // Bits of a word, and number of words.
  parameter int Width           = 32,
  parameter int Depth           = 128,
  // Bits that are written together.
  parameter int DataBitsPerMask = 1,
  // A file with the first contents. It is not used, because a cache starts empty.
  parameter     MemInitFile     = "",
  localparam int AddressBits    = $clog2(Depth)
) (
  input  logic                   clk_i,
  input  logic                   req_i,
  input  logic                   write_i,
  input  logic [AddressBits-1:0] addr_i,
  input  logic [Width-1:0]       wdata_i,
  input  logic [Width-1:0]       wmask_i,
  output logic [Width-1:0]       rdata_o,
  input  ram_1p_cfg_t            cfg_i
);
  localparam int Groups = Width / DataBitsPerMask;

  logic [Width-1:0] mem [Depth];

  // One access in a cycle: a write by groups of bits, or a read. The word that was read stays until
  // the next read, as in a block RAM, and a write does not change it.
  always_ff @(posedge clk_i) begin
    if (req_i && write_i) begin
      for (int group = 0; group < Groups; group++) begin
        if (wmask_i[group*DataBitsPerMask]) begin
          mem[addr_i][group*DataBitsPerMask +: DataBitsPerMask] <=
              wdata_i[group*DataBitsPerMask +: DataBitsPerMask];
        end
      end
    end else if (req_i) begin
      rdata_o <= mem[addr_i];
    end
  end

  // Timing margins of a real memory, which have no effect here.
  logic unused_cfg;
  assign unused_cfg = ^cfg_i;
endmodule
