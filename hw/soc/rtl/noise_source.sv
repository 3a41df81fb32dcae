// Samples of a noise source, for software: tested, and each handed out once.
//
// Offset 0x00 is the data: a read takes a sample that no read gave before, and is an error if none is there or the source is
// not healthy. Offset 0x04 is the status: bit 0 a sample is there, bit 1 healthy, bit 2 failed. Nothing can be written.
//
// The source is healthy after a start-up test of two windows, whose samples are not handed out, until a test of SP 800-90B §4.4
// fails. A failure is final until reset: no sample is taken any more, and none is left. The tests assume 16 of 32 bits of
// entropy; the cut-offs follow from that (entropy_health.sv). Samples are not conditioned: what the source delivers is
// what software gets.

`include "assert.svh"

module noise_source
  import soc_pkg::*;
#(
  parameter int unsigned RepetitionCutoff = 3,
  parameter int unsigned ProportionCutoff = 3,
  parameter int unsigned Window           = 512
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // Write address.
  input  logic        aw_valid_i,
  output logic        aw_ready_o,
  input  logic [11:0] aw_addr_i,
  // Write data.
  input  logic        w_valid_i,
  output logic        w_ready_o,
  input  logic [31:0] w_data_i,
  input  logic [3:0]  w_strb_i,
  // Write response.
  output logic        b_valid_o,
  input  logic        b_ready_i,
  output logic [1:0]  b_resp_o,
  // Read address.
  input  logic        ar_valid_i,
  output logic        ar_ready_o,
  input  logic [11:0] ar_addr_i,
  // Read data and response.
  output logic        r_valid_o,
  input  logic        r_ready_i,
  output logic [31:0] r_data_o,
  output logic [1:0]  r_resp_o,

  // The source.
  input  logic        noise_valid_i,
  output logic        noise_ready_o,
  input  logic [31:0] noise_i
);
  localparam logic [11:0] Data   = 12'h000;
  localparam logic [11:0] Status = 12'h004;

  logic        read, takes, gives, healthy, is_failure, there_q, failed_q, unused_write;
  logic [11:0] read_addr, unused_write_addr;
  logic [31:0] unused_write_data, word, sample_q;

  // Accesses of one cycle.
  axi_lite_registers #(.AddressBits(12)) u_registers (
    .clk_i,
    .rst_ni,
    .aw_valid_i, .aw_ready_o, .aw_addr_i,
    .w_valid_i, .w_ready_o, .w_data_i, .w_strb_i,
    .b_valid_o, .b_ready_i, .b_resp_o,
    .ar_valid_i, .ar_ready_o, .ar_addr_i,
    .r_valid_o, .r_ready_i, .r_data_o, .r_resp_o,
    .write_o      (unused_write),
    .write_addr_o (unused_write_addr),
    .write_data_o (unused_write_data),
    .write_err_i  (1'b1),
    .read_o       (read),
    .read_addr_o  (read_addr),
    .read_data_i  (word),
    .read_err_i   (~gives && read_addr != Status)
  );

  // Never cleared: what has failed once stays so.
  entropy_health #(
    .SampleBits       (32),
    .RepetitionCutoff (RepetitionCutoff),
    .ProportionCutoff (ProportionCutoff),
    .Window           (Window)
  ) u_health (
    .clk_i,
    .rst_ni,
    .clear_i   (1'b0),
    .valid_i   (takes),
    .sample_i  (noise_i),
    .healthy_o (healthy),
    .failed_o  (is_failure)
  );

  // One at a time: a sample waits in the source while another one is here.
  assign noise_ready_o = ~there_q & ~failed_q;
  assign takes         = noise_valid_i & noise_ready_o;
  assign gives         = read & (read_addr == Data) & there_q & healthy & ~failed_q;

  always_comb begin
    word = '0;
    if (gives) word = sample_q;
    if (read_addr == Status) word = {29'd0, failed_q, healthy & ~failed_q, there_q};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) failed_q <= 1'b0;
    else         failed_q <= failed_q | is_failure;
  end

  // The sample that a test fails with is none, as those of the start-up test.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      there_q  <= 1'b0;
      sample_q <= '0;
    end else if (gives || failed_q) begin
      there_q  <= 1'b0;
      sample_q <= '0;
    end else if (takes && healthy && !is_failure) begin
      there_q  <= 1'b1;
      sample_q <= noise_i;
    end
  end

  `ASSERT(ASampleIsGivenOnce_A, gives |=> !there_q && sample_q == '0)
  `ASSERT(NoSampleIsLost_A, there_q && !gives |=> there_q && $stable(sample_q))
  `ASSERT(AnUnhealthySourceGivesNothing_A, read && read_addr != Status && !(healthy && there_q) |-> word == '0)
  `ASSERT(AFailureIsFinal_A, failed_q |=> failed_q)
  `ASSERT(AFailureIsNoticed_A, is_failure |=> failed_q && !there_q)
  `ASSERT(AFailedSourceIsNotAsked_A, failed_q |-> !noise_ready_o)
  `ASSERT(NoSampleOfTheStartIsKept_A, !healthy |=> !there_q)
  `ASSERT(TheStatusShowsNoSample_A, read && read_addr == Status |-> word < 32'd8)
endmodule
