// CVA6 with its one AXI4 port as plain signals, for the test bench (verif/machines/sim/cva6).
//
// It starts at the start-up code of the memory map (hw/soc/README.md). Memory is cached. Everything
// below memory belongs to devices and is neither cached nor read speculatively, and writes to
// devices happen once and in order.
//
// Only the lab uses it, to run the same software on another core; it is no part of the system on a
// chip. The wrapper adds no cycle.

module cva6_host
  import ariane_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,

  // Read address.
  output logic        ar_valid,
  input  logic        ar_ready,
  output logic [3:0]  ar_bits_id,
  output logic [63:0] ar_bits_addr,
  output logic [7:0]  ar_bits_len,
  output logic [2:0]  ar_bits_size,

  // Write address.
  output logic        aw_valid,
  input  logic        aw_ready,
  output logic [3:0]  aw_bits_id,
  output logic [63:0] aw_bits_addr,
  output logic [7:0]  aw_bits_len,
  output logic [2:0]  aw_bits_size,

  // Write data.
  output logic        w_valid,
  input  logic        w_ready,
  output logic [63:0] w_bits_data,
  output logic [7:0]  w_bits_strb,
  output logic        w_bits_last,

  // Read data and response.
  input  logic        r_valid,
  output logic        r_ready,
  input  logic [3:0]  r_bits_id,
  input  logic [63:0] r_bits_data,
  input  logic        r_bits_last,

  // Write response.
  input  logic        b_valid,
  output logic        b_ready,
  input  logic [3:0]  b_bits_id
);
  // The memory map of hw/soc/README.md, as far as the core has to know it.
  localparam logic [63:0] StartUp      = 64'h1000_0000;
  localparam logic [63:0] StartUpBytes = 64'h100_0000;
  localparam logic [63:0] Memory       = 64'h8000_0000;
  localparam logic [63:0] MemoryBytes  = 64'h8000_0000;

  // Addresses that may be executed from, cached, and read speculatively. Devices must see every
  // access once and in order, so everything below memory is non-idempotent.
  function automatic ariane_cfg_t configuration();
    ariane_cfg_t cfg = ArianeDefaultConfig;
    cfg.NrNonIdempotentRules  = 1;
    cfg.NonIdempotentAddrBase = (16 * 64)'(0);
    cfg.NonIdempotentLength   = (16 * 64)'(Memory);
    cfg.NrExecuteRegionRules  = 2;
    cfg.ExecuteRegionAddrBase = (16 * 64)'({Memory, StartUp});
    cfg.ExecuteRegionLength   = (16 * 64)'({MemoryBytes, StartUpBytes});
    cfg.NrCachedRegionRules   = 1;
    cfg.CachedRegionAddrBase  = (16 * 64)'(Memory);
    cfg.CachedRegionLength    = (16 * 64)'(MemoryBytes);
    return cfg;
  endfunction

  ariane_axi::req_t  req;
  ariane_axi::resp_t resp;

  // One hart that never gets an interrupt: it runs software for comparison and nothing else.
  cva6 #(
    .ArianeCfg(configuration())
  ) u_core (
    .clk_i,
    .rst_ni,
    .boot_addr_i  (StartUp[riscv::VLEN-1:0]),
    .hart_id_i    ('0),
    .irq_i        ('0),
    .ipi_i        (1'b0),
    .time_irq_i   (1'b0),
    .debug_req_i  (1'b0),
    .cvxif_req_o  (),
    .cvxif_resp_i ('0),
    .axi_req_o    (req),
    .axi_resp_i   (resp)
  );

  // Requests, from the structures of the core to plain signals. Signals that the bench does not use
  // stay open.
  assign ar_valid     = req.ar_valid;
  assign ar_bits_id   = req.ar.id;
  assign ar_bits_addr = req.ar.addr;
  assign ar_bits_len  = req.ar.len;
  assign ar_bits_size = req.ar.size;
  assign aw_valid     = req.aw_valid;
  assign aw_bits_id   = req.aw.id;
  assign aw_bits_addr = req.aw.addr;
  assign aw_bits_len  = req.aw.len;
  assign aw_bits_size = req.aw.size;
  assign w_valid      = req.w_valid;
  assign w_bits_data  = req.w.data;
  assign w_bits_strb  = req.w.strb;
  assign w_bits_last  = req.w.last;
  assign r_ready      = req.r_ready;
  assign b_ready      = req.b_ready;

  // Responses, from plain signals to a structure. Those of the bench are always OKAY, which is
  // zero.
  always_comb begin
    resp          = '0;
    resp.ar_ready = ar_ready;
    resp.aw_ready = aw_ready;
    resp.w_ready  = w_ready;
    resp.r_valid  = r_valid;
    resp.r.id     = r_bits_id;
    resp.r.data   = r_bits_data;
    resp.r.last   = r_bits_last;
    resp.b_valid  = b_valid;
    resp.b.id     = b_bits_id;
  end
endmodule
