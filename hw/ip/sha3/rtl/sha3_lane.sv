// This module is a lane of a round: what θ adds to three lanes of a row, and χ (FIPS 202 §3.2.1, §3.2.4). It is
// combinational.
//
// Each bit is a function of six signals, one look-up table. A synthesis tool that sees the whole round looks
// for shorter paths instead and takes more area, so the hierarchy has to stay.

(* keep_hierarchy *)
module sha3_lane
  import sha3_pkg::*;
(
  // These are three adjacent lanes of a row after ρ and π, and the sums of columns after the same steps.
  input  lane_t [2:0] lane_i,
  input  lane_t [2:0] sum_i,
  output lane_t       lane_o
);
  assign lane_o = (lane_i[0] ^ sum_i[0]) ^ (~(lane_i[1] ^ sum_i[1]) & (lane_i[2] ^ sum_i[2]));
endmodule
