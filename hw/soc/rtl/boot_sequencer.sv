// Holds the host in reset until the root of trust has decided, once, what becomes of it.
//
// | offset | name | access | |
// |---|---|---|---|
// | 0x0 | DECISION | w | `Release`, `Refuse` or `Trap` below; anything else refuses |
// | 0x4 | REASON | rw | why, a code of spec/errors.toml; written before the decision, then fixed |
// | 0x8 | STATUS | r | 0 undecided, 1 released, 2 refused, 3 refused and trapped, 4 error |
//
// The first decision is the last one until the next reset of the whole chip, which also resets the root of
// trust. `Trap` lets the host out of reset to where every fetch fails, so that its own software can say
// that the boot was refused (hw/soc/README.md); it never sees the image. The state is sparse (any two codes
// differ in three bits at least), and whatever is no state holds the host in reset.

`include "assert.svh"

module boot_sequencer #(
  // 0 builds one that goes on from an illegal state, to show that the test would notice.
  parameter bit Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        aw_valid_i,
  output logic        aw_ready_o,
  input  logic [11:0] aw_addr_i,
  input  logic        w_valid_i,
  output logic        w_ready_o,
  input  logic [31:0] w_data_i,
  input  logic [3:0]  w_strb_i,
  output logic        b_valid_o,
  input  logic        b_ready_i,
  output logic [1:0]  b_resp_o,
  input  logic        ar_valid_i,
  output logic        ar_ready_o,
  input  logic [11:0] ar_addr_i,
  output logic        r_valid_o,
  input  logic        r_ready_i,
  output logic [31:0] r_data_o,
  output logic [1:0]  r_resp_o,

  output logic        host_rst_no,  // asserted at once, released with the clock
  output logic        host_trap_o,  // every fetch of the host fails
  output logic [2:0]  status_o,     // as STATUS, for pins and the debugger
  output logic [31:0] reason_o
);
  // Distant words, so that neither zero nor ones nor a single upset releases anything.
  localparam logic [31:0] Release = 32'h5a17_c3e1;
  localparam logic [31:0] Trap    = 32'hc36c_1d9a;

  localparam logic [11:0] OffsetDecision = 12'h0;
  localparam logic [11:0] OffsetReason   = 12'h4;
  localparam logic [11:0] OffsetStatus   = 12'h8;

  typedef enum logic [5:0] {
    StHeld     = 6'b001011,
    StReleased = 6'b010101,
    StRefused  = 6'b011110,
    StTrapped  = 6'b100110,
    StError    = 6'b110011
  } state_e;

  state_e state_d;
  (* fsm_encoding = "none" *) state_e state_q;
  logic [31:0] reason_d, reason_q;
  logic        host_rst_nq, host_trap_q;

  logic        write, read, write_err, read_err;
  logic [11:0] write_addr, read_addr;
  logic [31:0] write_data, read_data;

  axi_lite_registers u_registers (
    .clk_i,
    .rst_ni,
    .aw_valid_i, .aw_ready_o, .aw_addr_i,
    .w_valid_i, .w_ready_o, .w_data_i, .w_strb_i,
    .b_valid_o, .b_ready_i, .b_resp_o,
    .ar_valid_i, .ar_ready_o, .ar_addr_i,
    .r_valid_o, .r_ready_i, .r_data_o, .r_resp_o,
    .write_o      (write),
    .write_addr_o (write_addr),
    .write_data_o (write_data),
    .write_err_i  (write_err),
    .read_o       (read),
    .read_addr_o  (read_addr),
    .read_data_i  (read_data),
    .read_err_i   (read_err)
  );

  // Nothing but a decision or a reason can be written, and only while nothing was decided.
  // A second decision is an error for who wrote it, and changes nothing.
  assign write_err = !(state_q == StHeld &&
                       (write_addr == OffsetDecision || write_addr == OffsetReason));

  // Whatever is not a word of release refuses: a program that lost its way cannot let the host go by
  // writing anything else.
  always_comb begin
    state_d  = state_q;
    reason_d = reason_q;
    unique case (state_q)
      StHeld: if (write && write_addr == OffsetDecision) begin
        unique case (write_data)
          Release: state_d = StReleased;
          Trap:    state_d = StTrapped;
          default: state_d = StRefused;
        endcase
      end else if (write && write_addr == OffsetReason) begin
        reason_d = write_data;
      end
      StReleased, StRefused, StTrapped: state_d = state_q;
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StReleased;
    endcase
  end

  // What is no state shows as an error in the same cycle.
  always_comb begin
    unique case (state_q)
      StHeld:     status_o = 3'd0;
      StReleased: status_o = 3'd1;
      StRefused:  status_o = 3'd2;
      StTrapped:  status_o = 3'd3;
      default:    status_o = 3'd4;
    endcase
  end

  always_comb begin
    read_err  = 1'b0;
    read_data = '0;
    unique case (read_addr)
      OffsetReason: read_data = reason_q;
      OffsetStatus: read_data = 32'(status_o);
      default:      read_err  = 1'b1;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= StHeld;
      reason_q    <= '0;
      host_rst_nq <= 1'b0;
      host_trap_q <= 1'b0;
    end else begin
      state_q     <= state_d;
      reason_q    <= reason_d;
      // From a register, so that no glitch of the decoder ends the host's reset.
      host_rst_nq <= (state_q == StReleased) | (state_q == StTrapped);
      // A cycle before the reset ends, and for ever.
      host_trap_q <= host_trap_q | (state_d == StTrapped);
    end
  end

  assign host_rst_no = host_rst_nq;
  assign host_trap_o = host_trap_q;
  assign reason_o    = reason_q;

  logic unused_read;
  assign unused_read = read;

  `ASSERT(OnlyADecisionReleases_A, $rose(host_rst_no) && Hardened |-> $past(state_q == StReleased) ||
          $past(state_q == StTrapped && host_trap_o))
  `ASSERT(ADecisionIsForGood_A, state_q != StHeld && Hardened |=> $stable(state_q) || state_q == StError)
  `ASSERT(ReasonIsFixed_A, state_q != StHeld |=> $stable(reason_q))
  `ASSERT(ErrorHoldsTheHost_A, status_o == 3'd4 |=> !host_rst_no)
endmodule
