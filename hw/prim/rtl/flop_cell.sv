// Flip-flops with an asynchronous reset, and nothing else: the leaf cell of the registers that matter.
//
// State machines, registers with a copy, and the control of buffers and queues keep their bits here. A chip that
// needs other flip-flops for them (hardened against radiation, three with a majority, with an attribute of its
// library) replaces this file and no other. A replacement has to keep the ports, and to behave as
// `formal/flop_cell_proof.sv` says: after a reset the output is `Reset`, and after a clock edge it is what the input
// was before the edge.
//
// There is no enable and no synchronous clear: they are logic in front of `d_i`, so that a replacement need not have
// them. Synthesis makes enables from that logic as it would without this module.

module flop_cell #(
  parameter int unsigned      Width = 1,
  parameter logic [Width-1:0] Reset = '0
) (
  input  logic             clk_i,
  // The reset sets the output at once, and ends with a clock edge.
  input  logic             rst_ni,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] q_o
);
  // The attribute belongs here because synthesis finds a state machine by its register. Without it Yosys and Vivado
  // would choose codes for the states of a machine, and codes that are one bit apart.
  (* fsm_encoding = "none" *) logic [Width-1:0] value_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) value_q <= Reset;
    else         value_q <= d_i;
  end
  assign q_o = value_q;
endmodule
