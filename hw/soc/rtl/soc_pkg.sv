// Constants that both sides of the system on a chip share: the address map.
package soc_pkg;
  // The root of trust's view (hw/soc/README.md). Each region is aligned to its size.
  localparam int unsigned RomBytes        = 128 * 1024;
  localparam int unsigned ScratchpadBytes = 64 * 1024;

  localparam logic [31:0] RomBase        = 32'h0000_0000;
  localparam logic [31:0] ScratchpadBase = 32'h1000_0000;
  localparam logic [31:0] RegistersBase  = 32'h4000_0000;
  localparam logic [31:0] HostBase       = 32'h8000_0000;

  // Registers, in pages of 4 KiB.
  localparam logic [3:0] PageSha2     = 4'h0;
  localparam logic [3:0] PageMailbox  = 4'h1;
  localparam logic [3:0] PageControl  = 4'h2;
  localparam logic [3:0] PageDma      = 4'h3;
  localparam logic [3:0] PageSha3     = 4'h4;
  localparam logic [3:0] PageEd25519  = 4'h5;
  localparam logic [3:0] PageSecret   = 4'h6;
  localparam logic [3:0] PageXmss     = 4'h7;
  localparam logic [3:0] PageStream   = 4'h8;
  localparam logic [3:0] PageAes      = 4'h9;
  localparam logic [3:0] PageBignum   = 4'ha;
  localparam logic [3:0] PageWriter   = 4'hb;
  localparam logic [3:0] PageSlot     = 4'hc;
  localparam logic [3:0] PageNoise    = 4'hd;
  localparam logic [3:0] PageBench    = 4'hf;

  // An address is in a region when its upper bits are those of the region. Regions are aligned to
  // their sizes, so that no adder and no comparison of limits is on the way to a select signal.
  function automatic logic is_rom(logic [31:0] address);
    return address[31:17] == RomBase[31:17];
  endfunction

  function automatic logic is_scratchpad(logic [31:0] address);
    return address[31:16] == ScratchpadBase[31:16];
  endfunction

  // All pages, also empty ones, which the demultiplexer answers.
  function automatic logic is_register(logic [31:0] address);
    return address[31:16] == RegistersBase[31:16];
  endfunction

  // The upper half of the address space, all of it the host's memory.
  function automatic logic is_host(logic [31:0] address);
    return address[31] == HostBase[31];
  endfunction
endpackage
