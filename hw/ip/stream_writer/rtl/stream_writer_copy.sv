// A copy of the writer's control, to detect an upset of either of the two in the first cycle in
// which their outputs differ. It detects an upset of the window after its lock as well.
//
// The hierarchy has to stay: synthesis would merge registers that are equal. Nothing uses the data
// words of the copy, so their registers are not built.
//
// Interface: all inputs are those of `stream_writer_core`, in the same cycle. `differs_o` is
// combinational, `fault_o` follows one cycle later and lasts until reset. An upset that strikes
// both in the same way, or two upsets, are not detected.

`include "assert.svh"

(* keep_hierarchy *)
module stream_writer_copy
  import stream_writer_pkg::*;
#(
  // 0 builds no copy: both outputs are zero.
  parameter bit Hardened = 1'b1
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  // Inputs of the writer, with words of the stream left out.
  input  logic             locked_i,
  input  dma_pkg::window_t window_i,
  input  logic             start_i,
  input  logic             abort_i,
  input  logic [31:0]      address_i,
  input  logic [31:0]      length_i,
  input  logic             str_valid_i,
  input  logic             str_last_i,
  input  logic [3:0]       str_bytes_i,
  input  logic             str_abort_i,
  input  logic             aw_ready_i,
  input  logic             w_ready_i,
  input  logic             b_valid_i,
  input  logic [1:0]       b_resp_i,

  // Outputs of the writer that are compared.
  input  told_t            told_i,
  // The two differ in this cycle.
  output logic             differs_o,
  // They have differed. This lasts until reset.
  output logic             fault_o
);
  if (Hardened) begin : g_copy
    // Codes of the comparison. Every other value is a fault, so an upset of this register does not
    // hide one.
    typedef enum logic [1:0] {Same = 2'b01, Fault = 2'b10} state_e;

    told_t            told;
    // The window at the time of its lock.
    logic             locked_q;
    dma_pkg::window_t window_q;
    state_e           state_d, state_q;
    sparse_fsm #(.state_t(state_e), .Reset(Same), .MinDistance(2)) u_state (
      .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
    );

    // Outputs of the copy that nothing uses. The words of the copy are zero.
    logic        unused_busy, unused_done, unused_failed, unused_error, unused_str_ready, unused_aw_valid, unused_w_valid;
    logic        unused_w_last, unused_b_ready;
    cause_e      unused_cause;
    logic [31:0] unused_aw_addr;
    logic [7:0]  unused_aw_len, unused_w_strb;
    logic [63:0] unused_w_data;

    stream_writer_core #(.Hardened(Hardened)) u_core (
      .clk_i, .rst_ni, .locked_i, .window_i, .start_i, .abort_i, .address_i, .length_i,
      .busy_o     (unused_busy),
      .done_o     (unused_done),
      .failed_o   (unused_failed),
      .cause_o    (unused_cause),
      .error_o    (unused_error),
      .str_valid_i,
      .str_ready_o(unused_str_ready),
      .str_data_i (64'd0),
      .str_last_i, .str_bytes_i, .str_abort_i,
      .aw_valid_o (unused_aw_valid),
      .aw_ready_i,
      .aw_addr_o  (unused_aw_addr),
      .aw_len_o   (unused_aw_len),
      .w_valid_o  (unused_w_valid),
      .w_ready_i,
      .w_data_o   (unused_w_data),
      .w_strb_o   (unused_w_strb),
      .w_last_o   (unused_w_last),
      .b_valid_i,
      .b_ready_o  (unused_b_ready),
      .b_resp_i,
      .told_o     (told)
    );
    assign differs_o = (told != told_i) | (locked_q & (~locked_i | (window_i != window_q)));
    assign fault_o   = state_q != Same;

    // A difference is kept until reset.
    assign state_d = (differs_o | fault_o) ? Fault : Same;

    // The window is stored until it is locked, and then compared with the registers in every cycle.
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        locked_q <= 1'b0;
        window_q <= '0;
      end else if (!locked_q) begin
        locked_q <= locked_i;
        window_q <= window_i;
      end
    end
  end else begin : g_none
    logic unused;
    assign unused    = &{1'b0, clk_i, rst_ni, locked_i, window_i, start_i, abort_i, address_i, length_i, str_valid_i,
                         str_last_i, str_bytes_i, str_abort_i, aw_ready_i, w_ready_i, b_valid_i, b_resp_i, told_i};
    assign differs_o = 1'b0;
    assign fault_o   = 1'b0;
  end

  // Once the two have differed, the writer is not used again before a reset.
  `ASSERT(AFaultIsForGood_A, fault_o |=> fault_o)
  // No difference is forgotten.
  `ASSERT(ADifferenceIsAFault_A, differs_o |=> fault_o)
endmodule
