// The host's address map of the machine `svu-1` (hw/soc/README.md). Each region is aligned to its
// size.
package svu_pkg;
  // Header and code of a first stage, and the scratchpad.
  localparam int unsigned RamBytes        = 128 * 1024;
  localparam int unsigned ScratchpadBytes = 128 * 1024;

  // Bases of the regions.
  localparam logic [31:0] RamBase        = 32'h1000_0000;
  localparam logic [31:0] ScratchpadBase = 32'h2000_0000;
  localparam logic [31:0] RegistersBase  = 32'h4000_0000;
  localparam logic [31:0] MediumBase     = 32'h8000_0000;

  // Registers, in pages of 4 KiB.
  localparam logic [3:0] PageEngine = 4'h0;
  localparam logic [3:0] PageOtp    = 4'h1;
  localparam logic [3:0] PageBench  = 4'hf;

  // Ibex begins at 0x80 from here: the code of a first stage starts with its vector table.
  localparam logic [31:0] BootAddress = RamBase + 32'h100;

  // An address is in a region when its upper bits are those of the region.
  function automatic logic is_ram(logic [31:0] address);
    return address[31:17] == RamBase[31:17];
  endfunction

  function automatic logic is_scratchpad(logic [31:0] address);
    return address[31:17] == ScratchpadBase[31:17];
  endfunction

  function automatic logic is_register(logic [31:0] address);
    return address[31:16] == RegistersBase[31:16];
  endfunction

  function automatic logic is_medium(logic [31:0] address);
    return address[31] == MediumBase[31];
  endfunction
endpackage
