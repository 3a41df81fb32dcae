// The contract of the leaf cell, which a replacement has to keep: after the reset the output is `Reset`, and after each
// clock edge it is the input of the cycle before. It is also proven of the two users that add nothing to it in time,
// the register of a state machine and a register with a copy, in which no difference appears without an upset.

module flop_cell_proof #(
  localparam int unsigned Width = 3
) (
  input logic             clk_i,
  input logic [Width-1:0] d_i,
  input logic             write_i,
  // A second reset, at any time.
  input logic             rst_ni
);
  localparam logic [Width-1:0] Reset = 3'b110;
  typedef enum logic [Width-1:0] {StOne = 3'b000, StOther = Reset} state_e;

  logic started_q = 1'b0, reset_n;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign reset_n = started_q & rst_ni;

  logic [Width-1:0] value, shadowed;
  logic             differs;
  state_e           state;
  flop_cell #(.Width(Width), .Reset(Reset)) u_flop (.clk_i, .rst_ni(reset_n), .d_i, .q_o(value));
  sparse_fsm #(.state_t(state_e), .Reset(StOther), .MinDistance(2)) u_state (
    .clk_i, .rst_ni(reset_n), .state_i(state_e'(d_i)), .state_o(state)
  );
  shadow_register #(.Width(Width), .Reset(Reset)) u_shadow (
    .clk_i, .rst_ni(reset_n), .write_i, .d_i, .q_o(shadowed), .differs_o(differs)
  );

  logic [Width-1:0] before_q, written_q;
  logic             was_reset_q = 1'b1;
  always_ff @(posedge clk_i) begin
    before_q    <= d_i;
    if (!reset_n)     written_q <= Reset;
    else if (write_i) written_q <= d_i;
    was_reset_q <= ~reset_n;
  end

  logic [Width-1:0] wanted;
  assign wanted = (!reset_n || was_reset_q) ? Reset : before_q;
  always_comb begin
    assert (value == wanted);
    assert (state == state_e'(wanted));
    assert (shadowed == ((!reset_n || was_reset_q) ? Reset : written_q));
    assert (!differs);
  end
endmodule
