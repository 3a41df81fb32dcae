// Proof of `axi_lite_registers`: rules of its channels, one access for each request, its answer, and a bound of every wait.

module axi_lite_registers_proof
  import hartlock_axi_pkg::*;
#(
  parameter bit          WordsOnly  = 1'b1,
  parameter int unsigned MaxCycles = 4
) (
  input logic        clk_i,
  input axil_req_t   axil_i,
  input logic        write_err_i,
  input logic [31:0] read_data_i,
  input logic        read_err_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  axil_resp_t  axil;
  logic        write, read;
  logic [31:0] write_data;
  logic [11:0] write_addr, read_addr;

  axi_lite_registers #(.WordsOnly(WordsOnly)) dut (
    .clk_i, .rst_ni, .axil_i, .axil_o (axil),
    .write_o (write), .write_addr_o (write_addr), .write_data_o (write_data), .write_err_i,
    .read_o (read), .read_addr_o (read_addr), .read_data_i, .read_err_i
  );

  logic owes, early, due_b, due_r;
  fair_manager #(.MaxCycles(MaxCycles), .AwBits(12), .WBits(36), .ArBits(12), .BBits(2), .RBits(34)) u_manager (
    .clk_i, .rst_ni,
    .aw_valid_i (axil_i.aw_valid), .aw_ready_i (axil.aw_ready), .aw_i (axil_i.aw_addr),
    .w_valid_i (axil_i.w_valid), .w_ready_i (axil.w_ready), .w_i ({axil_i.w_data, axil_i.w_strb}), .w_last_i (1'b1),
    .b_valid_i (axil.b_valid), .b_ready_i (axil_i.b_ready), .b_i (axil.b_resp),
    .ar_valid_i (axil_i.ar_valid), .ar_ready_i (axil.ar_ready), .ar_i (axil_i.ar_addr),
    .r_valid_i (axil.r_valid), .r_ready_i (axil_i.r_ready), .r_i ({axil.r_data, axil.r_resp}), .r_last_i (1'b1),
    .owes_o (owes), .early_o (early), .due_b_o (due_b), .due_r_o (due_r)
  );

  // What the owner said in the cycle of an access is what the manager gets.
  logic        write_err_q, read_err_q;
  logic [31:0] read_data_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {write_err_q, read_err_q, read_data_q} <= '0;
    else begin
      if (axil_i.aw_valid && axil.aw_ready) write_err_q <= write_err_i || axil_i.w_strb != 4'hf;
      if (read) {read_err_q, read_data_q} <= {read_err_i, read_data_i};
    end
  end
  always_comb begin
    // Address and data are taken together, and only a whole word is an access.
    assert ((axil_i.aw_valid && axil.aw_ready) == (axil_i.w_valid && axil.w_ready));
    assert (write == (axil_i.aw_valid && axil.aw_ready && axil_i.w_strb == 4'hf));
    if (write) assert (write_addr == axil_i.aw_addr && write_data == axil_i.w_data);
    assert (read == (axil_i.ar_valid && axil.ar_ready));
    if (read) assert (read_addr == axil_i.ar_addr);
    if (axil.b_valid) assert (axil.b_resp == (write_err_q ? RespSlverr : RespOkay));
    if (axil.r_valid) assert (axil.r_resp == (read_err_q ? RespSlverr : RespOkay) && axil.r_data == (read_err_q ? '0 : read_data_q));
    // The state of the block is what the channels showed.
    assert (!owes && !early && due_b == axil.b_valid && due_r == axil.r_valid);
  end
endmodule
