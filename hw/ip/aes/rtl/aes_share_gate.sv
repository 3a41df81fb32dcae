// This module lets a share pass while its gate is open, and is zero otherwise.
//
// The hierarchy has to stay, because synthesis would merge the gate with the sum behind it, and the cell would
// have both shares as its inputs. `open_i` has to come from a register.

(* keep_hierarchy *)
module aes_share_gate
  import aes_pkg::*;
(
  input  logic   open_i,
  input  block_t share_i,
  output block_t share_o
);
  assign share_o = share_i & {128{open_i}};
endmodule
