// This module executes microcode: an instruction starts operations in its first cycle, stays for a fixed time,
// and leads to the next one.
//
// Protocol: `start_i` begins the program at `entry_i`, and `end_o` is a pulse in its last cycle. `clear_i` ends
// it at once.
//
// Time: an instruction takes `stay_i` + 1 cycles. Nothing is compared with the pipelines, because
// `data/schedule.py` has done that. The only decisions are counts, and the digits of a verification, which are
// public.
//
// Reset: no program runs. Hardening: a code of control that does not exist is an error; the place in the
// program has no copy.

`include "assert.svh"

module ed25519_sequencer
  import ed25519_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         clear_i,

  // This begins a program.
  input  logic         start_i,
  input  logic [9:0]   entry_i,
  // This is a pulse in the last cycle of a program.
  output logic         end_o,
  // The instruction does not exist.
  output logic         error_o,

  // These are the address of the ROM, and fields of the instruction that is there.
  output logic [9:0]   address_o,
  input  control_e     control_i,
  input  logic [9:0]   target_i,
  input  logic [4:0]   stay_i,

  // This is the first cycle of an instruction, in which its operations start.
  output logic         first_o,
  // These are requests to the unit of digits, and its answers.
  output logic         comb_o,
  output logic         recode_o,
  output logic         position_o,
  input  logic         at_end_i,
  input  logic         has_sum_i,
  input  logic         has_a_i,
  input  logic         has_b_i
);
  // `pc_q` is the address of the instruction, `stay_q` the cycles that it still stays, `count_q` the count of a
  // loop.
  logic       run_q, first_q;
  logic [4:0] stay_q;
  logic [9:0] pc_q, next;
  logic [6:0] count_q;
  logic       last, leads;
  logic [1:0] direction;

  assign first_o = run_q & first_q;
  assign last    = run_q & (first_q ? (stay_i == '0) : (stay_q == 5'd1));
  assign end_o   = last & (control_i == ControlEnd);
  assign error_o = run_q & (control_i > ControlRecode);

  assign comb_o     = last & (control_i == ControlComb);
  assign recode_o   = last & (control_i == ControlRecode);
  assign position_o = last & (control_i == ControlPosition);

  // This section says where the instruction leads to. A vector has four places.
  assign direction = (control_i == ControlSummands) ? {has_b_i, has_a_i} :
                     (at_end_i ? 2'd2 : {1'b0, has_sum_i});
  // Without a jump the next address follows.
  always_comb begin
    leads = 1'b0;
    next  = target_i;
    unique case (control_i)
      ControlJump: leads = 1'b1;
      ControlLoop: leads = count_q != '0;
      ControlPosition, ControlSummands: begin
        leads = 1'b1;
        next  = target_i | {8'd0, direction};
      end
      default: ;
    endcase
    if (!leads) next = pc_q + 10'd1;
  end

  // The memory shows the instruction of `pc_q`, so it gets the address of the next one a cycle before.
  assign address_o = start_i ? entry_i : (last ? next : pc_q);

  // These registers are the place in the program.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      run_q   <= 1'b0;
      first_q <= 1'b0;
      stay_q  <= '0;
      pc_q    <= '0;
      count_q <= '0;
    end else if (clear_i) begin
      run_q <= 1'b0;
    end else if (start_i) begin
      run_q   <= 1'b1;
      first_q <= 1'b1;
      pc_q    <= entry_i;
    end else if (run_q) begin
      first_q <= last;
      stay_q  <= first_q ? stay_i : stay_q - 5'd1;
      if (last) begin
        pc_q <= next;
        if (control_i == ControlCount)     count_q <= target_i[6:0];
        else if (control_i == ControlLoop) count_q <= count_q - 7'(leads);
        if (end_o) run_q <= 1'b0;
      end
    end
  end

  // A start in the middle of a program would leave its work half done.
  `ASSERT(AProgramIsNotInterrupted_A, start_i |-> !run_q)
  // An instruction that does not stay its time would take operands that are not there yet.
  `ASSERT(AnInstructionStaysItsTime_A, first_o && !clear_i && stay_i > 1 |=> run_q && !first_q)
  // After a clear nothing of a program goes on: its numbers are being overwritten.
  `ASSERT(AClearEndsTheProgram_A, clear_i |=> !run_q)
  // The place changes with the last cycle of an instruction only, so none is skipped.
  `ASSERT(NoInstructionIsSkipped_A, run_q && !last && !start_i |=> $stable(pc_q))
endmodule
