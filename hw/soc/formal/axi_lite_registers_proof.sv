// Proof of `axi_lite_registers`: rules of its channels, one access for each request, its answer, and a bound of every wait.

module axi_lite_registers_proof
  import soc_pkg::*;
#(
  parameter bit          WordsOnly  = 1'b1,
  parameter int unsigned MaxCycles = 4
) (
  input logic        clk_i,
  input logic        aw_valid_i,
  input logic [11:0] aw_addr_i,
  input logic        w_valid_i,
  input logic [31:0] w_data_i,
  input logic [3:0]  w_strb_i,
  input logic        b_ready_i,
  input logic        ar_valid_i,
  input logic [11:0] ar_addr_i,
  input logic        r_ready_i,
  input logic        write_err_i,
  input logic [31:0] read_data_i,
  input logic        read_err_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic        aw_ready, w_ready, b_valid, ar_ready, r_valid, write, read;
  logic [1:0]  b_resp, r_resp;
  logic [31:0] r_data, write_data;
  logic [11:0] write_addr, read_addr;

  axi_lite_registers #(.AddressBits(12), .WordsOnly(WordsOnly)) dut (
    .clk_i, .rst_ni, .aw_valid_i, .aw_ready_o (aw_ready), .aw_addr_i, .w_valid_i, .w_ready_o (w_ready), .w_data_i,
    .w_strb_i, .b_valid_o (b_valid), .b_ready_i, .b_resp_o (b_resp), .ar_valid_i, .ar_ready_o (ar_ready), .ar_addr_i,
    .r_valid_o (r_valid), .r_ready_i, .r_data_o (r_data), .r_resp_o (r_resp),
    .write_o (write), .write_addr_o (write_addr), .write_data_o (write_data), .write_err_i,
    .read_o (read), .read_addr_o (read_addr), .read_data_i, .read_err_i
  );

  logic owes, early, due_b, due_r;
  fair_manager #(.MaxCycles(MaxCycles), .AwBits(12), .WBits(36), .ArBits(12), .BBits(2), .RBits(34)) u_manager (
    .clk_i, .rst_ni,
    .aw_valid_i, .aw_ready_i (aw_ready), .aw_i (aw_addr_i),
    .w_valid_i, .w_ready_i (w_ready), .w_i ({w_data_i, w_strb_i}), .w_last_i (1'b1),
    .b_valid_i (b_valid), .b_ready_i, .b_i (b_resp), .ar_valid_i, .ar_ready_i (ar_ready), .ar_i (ar_addr_i),
    .r_valid_i (r_valid), .r_ready_i, .r_i ({r_data, r_resp}), .r_last_i (1'b1),
    .owes_o (owes), .early_o (early), .due_b_o (due_b), .due_r_o (due_r)
  );

  // What the owner said in the cycle of an access is what the manager gets.
  logic        write_err_q, read_err_q;
  logic [31:0] read_data_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {write_err_q, read_err_q, read_data_q} <= '0;
    else begin
      if (aw_valid_i && aw_ready) write_err_q <= write_err_i || w_strb_i != 4'hf;
      if (read) {read_err_q, read_data_q} <= {read_err_i, read_data_i};
    end
  end
  always_comb begin
    // Address and data are taken together, and only a whole word is an access.
    assert ((aw_valid_i && aw_ready) == (w_valid_i && w_ready));
    assert (write == (aw_valid_i && aw_ready && w_strb_i == 4'hf));
    if (write) assert (write_addr == aw_addr_i && write_data == w_data_i);
    assert (read == (ar_valid_i && ar_ready));
    if (read) assert (read_addr == ar_addr_i);
    if (b_valid) assert (b_resp == (write_err_q ? RespSlverr : RespOkay));
    if (r_valid) assert (r_resp == (read_err_q ? RespSlverr : RespOkay) && r_data == (read_err_q ? '0 : read_data_q));
    // The state of the block is what the channels showed.
    assert (!owes && !early && due_b == b_valid && due_r == r_valid);
  end
endmodule
