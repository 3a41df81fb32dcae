// Samples of a noise source, for software. They are tested, and each is handed out once.
//
// Offset 0x00 is the data: a read takes a sample that no read gave before, and is an error if none
// is there or the source is not healthy. Offset 0x04 is the status: bit 0 a sample is there, bit 1
// healthy, bit 2 failed. Nothing can be written.
//
// The source is healthy after a start-up test of two windows, whose samples are not handed out,
// until a test of SP 800-90B §4.4 fails. A failure is final until reset: no sample is taken any
// more, and none is left. The tests assume 16 bits of entropy in a sample of 32; the cut-offs
// follow from that (entropy_health.sv). Samples are not conditioned: software gets what the source
// delivers.
//
// Interface: AXI4-Lite by `axi_lite_registers`; an access takes one cycle, and its response follows
// in the next one. The source has valid and ready. An upset of the page, and a failure, raise no
// alert.

`include "assert.svh"

module noise_source
  import hartlock_axi_pkg::*;
#(
  // Cut-offs of the repetition count and of the adaptive proportion, and samples of a window (SP
  // 800-90B §4.4.1, §4.4.2).
  parameter int unsigned RepetitionCutoff = 3,
  parameter int unsigned ProportionCutoff = 3,
  parameter int unsigned Window           = 512
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The registers, AXI4-Lite.
  input  axil_req_t   axil_i,
  output axil_resp_t  axil_o,

  // The source: a sample of 32 bits, with valid and ready.
  input  logic        noise_valid_i,
  output logic        noise_ready_o,
  input  logic [31:0] noise_i
);
  // Offsets of the two registers.
  localparam logic [11:0] Data   = 12'h000;
  localparam logic [11:0] Status = 12'h004;

  // The sample that waits for software, and the failure.
  logic        read, takes, gives, healthy, is_failure, there_q, failed_q, unused_write;
  logic [11:0] read_addr, unused_write_addr;
  logic [31:0] unused_write_data, word, sample_q;

  // Each access takes one cycle, and every write is an error.
  axi_lite_registers u_registers (
    .clk_i,
    .rst_ni,
    .axil_i,
    .axil_o,
    .write_o      (unused_write),
    .write_addr_o (unused_write_addr),
    .write_data_o (unused_write_data),
    .write_err_i  (1'b1),
    .read_o       (read),
    .read_addr_o  (read_addr),
    .read_data_i  (word),
    .read_err_i   (~gives && read_addr != Status)
  );

  // The tests are never cleared: a failure lasts until reset.
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

  // One sample at a time: the next one waits in the source.
  assign noise_ready_o = ~there_q & ~failed_q;
  assign takes         = noise_valid_i & noise_ready_o;
  assign gives         = read & (read_addr == Data) & there_q & healthy & ~failed_q;

  // A read of the data gets a sample that was tested, and a read of the status none.
  always_comb begin
    word = '0;
    if (gives) word = sample_q;
    if (read_addr == Status) word = {29'd0, failed_q, healthy & ~failed_q, there_q};
  end

  // A failure is kept until reset.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) failed_q <= 1'b0;
    else         failed_q <= failed_q | is_failure;
  end

  // The sample with which a test fails is not kept, and neither are those of the start-up test.
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

  // No sample is given twice, and none stays in the register.
  `ASSERT(ASampleIsGivenOnce_A, gives |=> !there_q && sample_q == '0)
  // A sample waits until it is read, unless the source fails.
  `ASSERT(NoSampleIsLost_A, there_q && !gives |=> there_q && $stable(sample_q))
  // Before the start-up test and after a failure software gets zeros.
  `ASSERT(AnUnhealthySourceGivesNothing_A, read && read_addr != Status && !(healthy && there_q) |-> word == '0)
  // A failure lasts until reset.
  `ASSERT(AFailureIsFinal_A, failed_q |=> failed_q)
  // A failure drops the sample that waits.
  `ASSERT(AFailureIsNoticed_A, is_failure |=> failed_q && !there_q)
  // A failed source is not asked for samples any more.
  `ASSERT(AFailedSourceIsNotAsked_A, failed_q |-> !noise_ready_o)
  // Samples of the start-up test are not handed out.
  `ASSERT(NoSampleOfTheStartIsKept_A, !healthy |=> !there_q)
  // The status has three bits and nothing of a sample.
  `ASSERT(TheStatusShowsNoSample_A, read && read_addr == Status |-> word < 32'd8)
endmodule
