// Block RAM of Xilinx series 7, as far as Yosys uses it. The library of cells that comes with Yosys describes the times of
// RAMB18E1 and RAMB36E1 and not what they do: a netlist that is simulated with that library alone reads zeros.
//
// UG473 (v1.14), chapter 1: widths of 1, 2 and 4 bits, and of 9 to 72 with a bit of parity to each byte; the three write
// modes; simple dual port, where A reads and B writes. Output registers, cascades and error correction are refused. A read
// of what the other port writes in the same cycle has the old value, which READ_FIRST promises for one clock.

module block_ram #(
  parameter integer LANES = 4, BYTES = 4096,
  parameter [8 * BYTES - 1:0] DATA = 0,
  parameter [BYTES - 1:0] PARITY = 0,
  parameter [9 * LANES - 1:0] INIT_A = 0, INIT_B = 0, SRVAL_A = 0, SRVAL_B = 0,
  parameter [0:0] IS_SDP = 0,
  parameter MODE_A = "WRITE_FIRST", MODE_B = "WRITE_FIRST",
  parameter integer READ_A = 0, READ_B = 0, WRITE_A = 0, WRITE_B = 0,
  parameter [0:0] IS_KNOWN = 1
) (
  input clk_a, clk_b, en_a, en_b, rst_a, rst_b,
  input [$clog2(8 * BYTES) - 1:0] addr_a, addr_b,
  input [LANES - 1:0] we_a,
  input [2 * LANES - 1:0] we_b,
  input [8 * LANES - 1:0] di_a, di_b,
  input [LANES - 1:0] dip_a, dip_b,
  output [8 * LANES - 1:0] do_a, do_b,
  output [LANES - 1:0] dop_a, dop_b
);
  // Lanes of a byte below its parity, for the widest port.
  localparam integer TOP = 18 * LANES - 1;
  localparam [0:0] IS_WIDE = WRITE_B == 18 * LANES;

  reg [8:0] memory [0:BYTES - 1];
  reg [TOP:0] out_a, out_b;

  // Values of initialisation have all data below all parity.
  function automatic [TOP:0] lanes(input [9 * LANES - 1:0] low, input [9 * LANES - 1:0] high);
    integer lane;
    for (lane = 0; lane < LANES; lane = lane + 1) begin
      lanes[9 * lane +: 9] = {low[8 * LANES + lane], low[8 * lane +: 8]};
      lanes[9 * (lane + LANES) +: 9] = {high[8 * LANES + lane], high[8 * lane +: 8]};
    end
  endfunction

  integer index;
  initial begin
    if (!IS_KNOWN) $fatal(1, "a block RAM with what this model does not have");
    for (index = 0; index < BYTES; index = index + 1) memory[index] = {PARITY[index], DATA[8 * index +: 8]};
    out_a = lanes(INIT_A, IS_SDP ? INIT_B : 0);
    out_b = lanes(INIT_B, 0);
  end

  // The first byte of a port's word: addresses count bits, and those below the width do not matter.
  function automatic integer first(input integer width, input integer address);
    first = width < 9 ? address >> 3 : address >> 3 & ~(width / 9 - 1);
  endfunction

  function automatic integer shift(input integer width, input integer address);
    shift = address & 7 & ~(width - 1);
  endfunction

  function automatic [TOP:0] word(input integer width, input integer address);
    integer lane;
    word = 0;
    if (width < 9)
      for (lane = 0; lane < width; lane = lane + 1) word[lane] = memory[first(width, address)][shift(width, address) + lane];
    else for (lane = 0; lane < width / 9; lane = lane + 1) word[9 * lane +: 9] = memory[first(width, address) + lane];
  endfunction

  // Data and parity of both ports. A port that is as wide as both has its lower half at the pins of A.
  wire [TOP:0] in_a, in_b;
  genvar g;
  generate
    for (g = 0; g < LANES; g = g + 1) begin : gen_lanes
      assign in_a[9 * g +: 9] = {dip_a[g], di_a[8 * g +: 8]};
      assign in_a[9 * (g + LANES) +: 9] = 0;
      assign in_b[9 * g +: 9] = IS_WIDE ? {dip_a[g], di_a[8 * g +: 8]} : {dip_b[g], di_b[8 * g +: 8]};
      assign in_b[9 * (g + LANES) +: 9] = {dip_b[g], di_b[8 * g +: 8]};
      assign {dop_a[g], do_a[8 * g +: 8]} = out_a[9 * g +: 9];
      assign {dop_b[g], do_b[8 * g +: 8]} = IS_SDP ? out_a[9 * (g + LANES) +: 9] : out_b[9 * g +: 9];
    end
  endgenerate

  // What a port shows of its own write.
  function automatic [TOP:0] merged(
    input integer width, input [TOP:0] old, input [TOP:0] in, input [2 * LANES - 1:0] we
  );
    integer lane;
    merged = old;
    for (lane = 0; lane < 2 * LANES; lane = lane + 1) if (we[width < 9 ? 0 : lane]) merged[9 * lane +: 9] = in[9 * lane +: 9];
  endfunction

  wire writes_a = WRITE_A != 0 && en_a && |we_a;
  wire writes_b = WRITE_B != 0 && en_b && |we_b;
  integer lane_a, lane_b;

  always @(posedge clk_a) begin
    if (writes_a && WRITE_A < 9) begin
      for (lane_a = 0; lane_a < WRITE_A; lane_a = lane_a + 1)
        memory[first(WRITE_A, 32'(addr_a))][shift(WRITE_A, 32'(addr_a)) + lane_a] <= in_a[lane_a];
    end else if (writes_a) begin
      for (lane_a = 0; lane_a < WRITE_A / 9; lane_a = lane_a + 1)
        if (we_a[lane_a]) memory[first(WRITE_A, 32'(addr_a)) + lane_a] <= in_a[9 * lane_a +: 9];
    end
    if (en_a && rst_a) out_a <= lanes(SRVAL_A, IS_SDP ? SRVAL_B : 0);
    else if (en_a && READ_A != 0 && !(writes_a && MODE_A == "NO_CHANGE"))
      out_a <= writes_a && MODE_A == "WRITE_FIRST"
        ? merged(READ_A, word(READ_A, 32'(addr_a)), in_a, {{LANES{1'b0}}, we_a}) : word(READ_A, 32'(addr_a));
  end

  always @(posedge clk_b) begin
    if (writes_b && WRITE_B < 9) begin
      for (lane_b = 0; lane_b < WRITE_B; lane_b = lane_b + 1)
        memory[first(WRITE_B, 32'(addr_b))][shift(WRITE_B, 32'(addr_b)) + lane_b] <= in_b[lane_b];
    end else if (writes_b) begin
      for (lane_b = 0; lane_b < WRITE_B / 9; lane_b = lane_b + 1)
        if (we_b[lane_b]) memory[first(WRITE_B, 32'(addr_b)) + lane_b] <= in_b[9 * lane_b +: 9];
    end
    if (en_b && rst_b) out_b <= lanes(SRVAL_B, 0);
    else if (en_b && READ_B != 0 && !(writes_b && MODE_B == "NO_CHANGE"))
      out_b <= writes_b && MODE_B == "WRITE_FIRST"
        ? merged(READ_B, word(READ_B, 32'(addr_b)), in_b, we_b) : word(READ_B, 32'(addr_b));
  end
endmodule

module RAMB18E1 #(
  parameter [255:0] INITP_00 = 0, INITP_01 = 0, INITP_02 = 0, INITP_03 = 0,
  parameter [255:0] INITP_04 = 0, INITP_05 = 0, INITP_06 = 0, INITP_07 = 0,
  parameter [255:0] INIT_00 = 0, INIT_01 = 0, INIT_02 = 0, INIT_03 = 0,
  parameter [255:0] INIT_04 = 0, INIT_05 = 0, INIT_06 = 0, INIT_07 = 0,
  parameter [255:0] INIT_08 = 0, INIT_09 = 0, INIT_0A = 0, INIT_0B = 0,
  parameter [255:0] INIT_0C = 0, INIT_0D = 0, INIT_0E = 0, INIT_0F = 0,
  parameter [255:0] INIT_10 = 0, INIT_11 = 0, INIT_12 = 0, INIT_13 = 0,
  parameter [255:0] INIT_14 = 0, INIT_15 = 0, INIT_16 = 0, INIT_17 = 0,
  parameter [255:0] INIT_18 = 0, INIT_19 = 0, INIT_1A = 0, INIT_1B = 0,
  parameter [255:0] INIT_1C = 0, INIT_1D = 0, INIT_1E = 0, INIT_1F = 0,
  parameter [255:0] INIT_20 = 0, INIT_21 = 0, INIT_22 = 0, INIT_23 = 0,
  parameter [255:0] INIT_24 = 0, INIT_25 = 0, INIT_26 = 0, INIT_27 = 0,
  parameter [255:0] INIT_28 = 0, INIT_29 = 0, INIT_2A = 0, INIT_2B = 0,
  parameter [255:0] INIT_2C = 0, INIT_2D = 0, INIT_2E = 0, INIT_2F = 0,
  parameter [255:0] INIT_30 = 0, INIT_31 = 0, INIT_32 = 0, INIT_33 = 0,
  parameter [255:0] INIT_34 = 0, INIT_35 = 0, INIT_36 = 0, INIT_37 = 0,
  parameter [255:0] INIT_38 = 0, INIT_39 = 0, INIT_3A = 0, INIT_3B = 0,
  parameter [255:0] INIT_3C = 0, INIT_3D = 0, INIT_3E = 0, INIT_3F = 0,
  parameter [17:0] INIT_A = 0, INIT_B = 0, SRVAL_A = 0, SRVAL_B = 0,
  parameter RAM_MODE = "TDP", SIM_DEVICE = "7SERIES", WRITE_MODE_A = "WRITE_FIRST", WRITE_MODE_B = "WRITE_FIRST",
  parameter integer READ_WIDTH_A = 0, READ_WIDTH_B = 0, WRITE_WIDTH_A = 0, WRITE_WIDTH_B = 0,
  parameter integer DOA_REG = 0, DOB_REG = 0,
  parameter [0:0] IS_CLKARDCLK_INVERTED = 0, IS_CLKBWRCLK_INVERTED = 0, IS_ENARDEN_INVERTED = 0, IS_ENBWREN_INVERTED = 0,
  parameter [0:0] IS_RSTRAMARSTRAM_INVERTED = 0, IS_RSTRAMB_INVERTED = 0,
  parameter [0:0] IS_RSTREGARSTREG_INVERTED = 0, IS_RSTREGB_INVERTED = 0
) (
  input CLKARDCLK, CLKBWRCLK, ENARDEN, ENBWREN, REGCEAREGCE, REGCEB, RSTREGARSTREG, RSTREGB, RSTRAMARSTRAM, RSTRAMB,
  input [13:0] ADDRARDADDR, ADDRBWRADDR,
  input [1:0] WEA,
  input [3:0] WEBWE,
  input [15:0] DIADI, DIBDI,
  input [1:0] DIPADIP, DIPBDIP,
  output [15:0] DOADO, DOBDO,
  output [1:0] DOPADOP, DOPBDOP
);
  block_ram #(
    .LANES(2), .BYTES(2048),
    .DATA({
      INIT_3F, INIT_3E, INIT_3D, INIT_3C, INIT_3B, INIT_3A, INIT_39, INIT_38,
      INIT_37, INIT_36, INIT_35, INIT_34, INIT_33, INIT_32, INIT_31, INIT_30,
      INIT_2F, INIT_2E, INIT_2D, INIT_2C, INIT_2B, INIT_2A, INIT_29, INIT_28,
      INIT_27, INIT_26, INIT_25, INIT_24, INIT_23, INIT_22, INIT_21, INIT_20,
      INIT_1F, INIT_1E, INIT_1D, INIT_1C, INIT_1B, INIT_1A, INIT_19, INIT_18,
      INIT_17, INIT_16, INIT_15, INIT_14, INIT_13, INIT_12, INIT_11, INIT_10,
      INIT_0F, INIT_0E, INIT_0D, INIT_0C, INIT_0B, INIT_0A, INIT_09, INIT_08,
      INIT_07, INIT_06, INIT_05, INIT_04, INIT_03, INIT_02, INIT_01, INIT_00
    }),
    .PARITY({
      INITP_07, INITP_06, INITP_05, INITP_04, INITP_03, INITP_02, INITP_01, INITP_00
    }),
    .INIT_A(INIT_A), .INIT_B(INIT_B), .SRVAL_A(SRVAL_A), .SRVAL_B(SRVAL_B),
    .IS_SDP(RAM_MODE == "SDP"), .MODE_A(WRITE_MODE_A), .MODE_B(WRITE_MODE_B),
    .READ_A(READ_WIDTH_A), .READ_B(READ_WIDTH_B), .WRITE_A(WRITE_WIDTH_A), .WRITE_B(WRITE_WIDTH_B),
    .IS_KNOWN(DOA_REG == 0 && DOB_REG == 0)
  ) u_ram (
    .clk_a(CLKARDCLK ^ IS_CLKARDCLK_INVERTED), .clk_b(CLKBWRCLK ^ IS_CLKBWRCLK_INVERTED),
    .en_a(ENARDEN ^ IS_ENARDEN_INVERTED), .en_b(ENBWREN ^ IS_ENBWREN_INVERTED),
    .rst_a(RSTRAMARSTRAM ^ IS_RSTRAMARSTRAM_INVERTED), .rst_b(RSTRAMB ^ IS_RSTRAMB_INVERTED),
    .addr_a(ADDRARDADDR[13:0]), .addr_b(ADDRBWRADDR[13:0]),
    .we_a(WEA), .we_b(WEBWE), .di_a(DIADI), .di_b(DIBDI), .dip_a(DIPADIP), .dip_b(DIPBDIP),
    .do_a(DOADO), .do_b(DOBDO), .dop_a(DOPADOP), .dop_b(DOPBDOP)
  );
endmodule

module RAMB36E1 #(
  parameter [255:0] INITP_00 = 0, INITP_01 = 0, INITP_02 = 0, INITP_03 = 0,
  parameter [255:0] INITP_04 = 0, INITP_05 = 0, INITP_06 = 0, INITP_07 = 0,
  parameter [255:0] INITP_08 = 0, INITP_09 = 0, INITP_0A = 0, INITP_0B = 0,
  parameter [255:0] INITP_0C = 0, INITP_0D = 0, INITP_0E = 0, INITP_0F = 0,
  parameter [255:0] INIT_00 = 0, INIT_01 = 0, INIT_02 = 0, INIT_03 = 0,
  parameter [255:0] INIT_04 = 0, INIT_05 = 0, INIT_06 = 0, INIT_07 = 0,
  parameter [255:0] INIT_08 = 0, INIT_09 = 0, INIT_0A = 0, INIT_0B = 0,
  parameter [255:0] INIT_0C = 0, INIT_0D = 0, INIT_0E = 0, INIT_0F = 0,
  parameter [255:0] INIT_10 = 0, INIT_11 = 0, INIT_12 = 0, INIT_13 = 0,
  parameter [255:0] INIT_14 = 0, INIT_15 = 0, INIT_16 = 0, INIT_17 = 0,
  parameter [255:0] INIT_18 = 0, INIT_19 = 0, INIT_1A = 0, INIT_1B = 0,
  parameter [255:0] INIT_1C = 0, INIT_1D = 0, INIT_1E = 0, INIT_1F = 0,
  parameter [255:0] INIT_20 = 0, INIT_21 = 0, INIT_22 = 0, INIT_23 = 0,
  parameter [255:0] INIT_24 = 0, INIT_25 = 0, INIT_26 = 0, INIT_27 = 0,
  parameter [255:0] INIT_28 = 0, INIT_29 = 0, INIT_2A = 0, INIT_2B = 0,
  parameter [255:0] INIT_2C = 0, INIT_2D = 0, INIT_2E = 0, INIT_2F = 0,
  parameter [255:0] INIT_30 = 0, INIT_31 = 0, INIT_32 = 0, INIT_33 = 0,
  parameter [255:0] INIT_34 = 0, INIT_35 = 0, INIT_36 = 0, INIT_37 = 0,
  parameter [255:0] INIT_38 = 0, INIT_39 = 0, INIT_3A = 0, INIT_3B = 0,
  parameter [255:0] INIT_3C = 0, INIT_3D = 0, INIT_3E = 0, INIT_3F = 0,
  parameter [255:0] INIT_40 = 0, INIT_41 = 0, INIT_42 = 0, INIT_43 = 0,
  parameter [255:0] INIT_44 = 0, INIT_45 = 0, INIT_46 = 0, INIT_47 = 0,
  parameter [255:0] INIT_48 = 0, INIT_49 = 0, INIT_4A = 0, INIT_4B = 0,
  parameter [255:0] INIT_4C = 0, INIT_4D = 0, INIT_4E = 0, INIT_4F = 0,
  parameter [255:0] INIT_50 = 0, INIT_51 = 0, INIT_52 = 0, INIT_53 = 0,
  parameter [255:0] INIT_54 = 0, INIT_55 = 0, INIT_56 = 0, INIT_57 = 0,
  parameter [255:0] INIT_58 = 0, INIT_59 = 0, INIT_5A = 0, INIT_5B = 0,
  parameter [255:0] INIT_5C = 0, INIT_5D = 0, INIT_5E = 0, INIT_5F = 0,
  parameter [255:0] INIT_60 = 0, INIT_61 = 0, INIT_62 = 0, INIT_63 = 0,
  parameter [255:0] INIT_64 = 0, INIT_65 = 0, INIT_66 = 0, INIT_67 = 0,
  parameter [255:0] INIT_68 = 0, INIT_69 = 0, INIT_6A = 0, INIT_6B = 0,
  parameter [255:0] INIT_6C = 0, INIT_6D = 0, INIT_6E = 0, INIT_6F = 0,
  parameter [255:0] INIT_70 = 0, INIT_71 = 0, INIT_72 = 0, INIT_73 = 0,
  parameter [255:0] INIT_74 = 0, INIT_75 = 0, INIT_76 = 0, INIT_77 = 0,
  parameter [255:0] INIT_78 = 0, INIT_79 = 0, INIT_7A = 0, INIT_7B = 0,
  parameter [255:0] INIT_7C = 0, INIT_7D = 0, INIT_7E = 0, INIT_7F = 0,
  parameter RAM_EXTENSION_A = "NONE", RAM_EXTENSION_B = "NONE",
  parameter EN_ECC_READ = "FALSE", EN_ECC_WRITE = "FALSE",
  parameter [35:0] INIT_A = 0, INIT_B = 0, SRVAL_A = 0, SRVAL_B = 0,
  parameter RAM_MODE = "TDP", SIM_DEVICE = "7SERIES", WRITE_MODE_A = "WRITE_FIRST", WRITE_MODE_B = "WRITE_FIRST",
  parameter integer READ_WIDTH_A = 0, READ_WIDTH_B = 0, WRITE_WIDTH_A = 0, WRITE_WIDTH_B = 0,
  parameter integer DOA_REG = 0, DOB_REG = 0,
  parameter [0:0] IS_CLKARDCLK_INVERTED = 0, IS_CLKBWRCLK_INVERTED = 0, IS_ENARDEN_INVERTED = 0, IS_ENBWREN_INVERTED = 0,
  parameter [0:0] IS_RSTRAMARSTRAM_INVERTED = 0, IS_RSTRAMB_INVERTED = 0,
  parameter [0:0] IS_RSTREGARSTREG_INVERTED = 0, IS_RSTREGB_INVERTED = 0
) (
  input CLKARDCLK, CLKBWRCLK, ENARDEN, ENBWREN, REGCEAREGCE, REGCEB, RSTREGARSTREG, RSTREGB, RSTRAMARSTRAM, RSTRAMB,
  input CASCADEINA, CASCADEINB, output CASCADEOUTA, CASCADEOUTB,
  input [15:0] ADDRARDADDR, ADDRBWRADDR,
  input [3:0] WEA,
  input [7:0] WEBWE,
  input [31:0] DIADI, DIBDI,
  input [3:0] DIPADIP, DIPBDIP,
  output [31:0] DOADO, DOBDO,
  output [3:0] DOPADOP, DOPBDOP
);
  block_ram #(
    .LANES(4), .BYTES(4096),
    .DATA({
      INIT_7F, INIT_7E, INIT_7D, INIT_7C, INIT_7B, INIT_7A, INIT_79, INIT_78,
      INIT_77, INIT_76, INIT_75, INIT_74, INIT_73, INIT_72, INIT_71, INIT_70,
      INIT_6F, INIT_6E, INIT_6D, INIT_6C, INIT_6B, INIT_6A, INIT_69, INIT_68,
      INIT_67, INIT_66, INIT_65, INIT_64, INIT_63, INIT_62, INIT_61, INIT_60,
      INIT_5F, INIT_5E, INIT_5D, INIT_5C, INIT_5B, INIT_5A, INIT_59, INIT_58,
      INIT_57, INIT_56, INIT_55, INIT_54, INIT_53, INIT_52, INIT_51, INIT_50,
      INIT_4F, INIT_4E, INIT_4D, INIT_4C, INIT_4B, INIT_4A, INIT_49, INIT_48,
      INIT_47, INIT_46, INIT_45, INIT_44, INIT_43, INIT_42, INIT_41, INIT_40,
      INIT_3F, INIT_3E, INIT_3D, INIT_3C, INIT_3B, INIT_3A, INIT_39, INIT_38,
      INIT_37, INIT_36, INIT_35, INIT_34, INIT_33, INIT_32, INIT_31, INIT_30,
      INIT_2F, INIT_2E, INIT_2D, INIT_2C, INIT_2B, INIT_2A, INIT_29, INIT_28,
      INIT_27, INIT_26, INIT_25, INIT_24, INIT_23, INIT_22, INIT_21, INIT_20,
      INIT_1F, INIT_1E, INIT_1D, INIT_1C, INIT_1B, INIT_1A, INIT_19, INIT_18,
      INIT_17, INIT_16, INIT_15, INIT_14, INIT_13, INIT_12, INIT_11, INIT_10,
      INIT_0F, INIT_0E, INIT_0D, INIT_0C, INIT_0B, INIT_0A, INIT_09, INIT_08,
      INIT_07, INIT_06, INIT_05, INIT_04, INIT_03, INIT_02, INIT_01, INIT_00
    }),
    .PARITY({
      INITP_0F, INITP_0E, INITP_0D, INITP_0C, INITP_0B, INITP_0A, INITP_09, INITP_08,
      INITP_07, INITP_06, INITP_05, INITP_04, INITP_03, INITP_02, INITP_01, INITP_00
    }),
    .INIT_A(INIT_A), .INIT_B(INIT_B), .SRVAL_A(SRVAL_A), .SRVAL_B(SRVAL_B),
    .IS_SDP(RAM_MODE == "SDP"), .MODE_A(WRITE_MODE_A), .MODE_B(WRITE_MODE_B),
    .READ_A(READ_WIDTH_A), .READ_B(READ_WIDTH_B), .WRITE_A(WRITE_WIDTH_A), .WRITE_B(WRITE_WIDTH_B),
    .IS_KNOWN(DOA_REG == 0 && DOB_REG == 0 && RAM_EXTENSION_A == "NONE" && RAM_EXTENSION_B == "NONE"
      && EN_ECC_READ == "FALSE" && EN_ECC_WRITE == "FALSE")
  ) u_ram (
    .clk_a(CLKARDCLK ^ IS_CLKARDCLK_INVERTED), .clk_b(CLKBWRCLK ^ IS_CLKBWRCLK_INVERTED),
    .en_a(ENARDEN ^ IS_ENARDEN_INVERTED), .en_b(ENBWREN ^ IS_ENBWREN_INVERTED),
    .rst_a(RSTRAMARSTRAM ^ IS_RSTRAMARSTRAM_INVERTED), .rst_b(RSTRAMB ^ IS_RSTRAMB_INVERTED),
    .addr_a(ADDRARDADDR[14:0]), .addr_b(ADDRBWRADDR[14:0]),
    .we_a(WEA), .we_b(WEBWE), .di_a(DIADI), .di_b(DIBDI), .dip_a(DIPADIP), .dip_b(DIPBDIP),
    .do_a(DOADO), .do_b(DOBDO), .dop_a(DOPADOP), .dop_b(DOPBDOP)
  );
endmodule
