// Pages of the engines of `tee_machine`, 4 KiB each, from 0x1500_0000 of the host's devices on
// (hw/soc/README.md).
package tee_axi_pkg;
  localparam int unsigned NumBlocks = 6;

  // Numbers of the blocks at the demultiplexer, which are their pages as well.
  localparam int unsigned BlockSecret  = 0;
  localparam int unsigned BlockEd25519 = 1;
  localparam int unsigned BlockSha3    = 2;
  localparam int unsigned BlockDma     = 3;
  localparam int unsigned BlockLists   = 4;
  localparam int unsigned BlockPush    = 5;

  // Bits 30 to 15 of an address of the host's devices: eight pages from 0x1500_0000 on, of which six are used.
  localparam logic [15:0] Window = 16'h2a00;

  // The place of lists of the DMA engine: 2 KiB, two lists of the longest kind.
  localparam int unsigned ListBits = 11;
endpackage
