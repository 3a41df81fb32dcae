// Configuration of the CVA6 of `cva6_host`: RV64IMAC, because its package lacks the divider of the
// floating-point unit, and nothing here computes with floating point.

package cva6_config_pkg;
  // The names are those that the core's packages import.
  localparam CVA6ConfigXlen           = 64;

  // No floating point, of any format.
  localparam CVA6ConfigFpuEn          = 0;
  localparam CVA6ConfigF16En          = 0;
  localparam CVA6ConfigF16AltEn       = 0;
  localparam CVA6ConfigF8En           = 0;
  localparam CVA6ConfigFVecEn         = 0;

  // There is no coprocessor. Firmware is built with compressed and atomic instructions.
  localparam CVA6ConfigCvxifEn        = 0;
  localparam CVA6ConfigCExtEn         = 1;
  localparam CVA6ConfigAExtEn         = 1;

  // No user bits on the bus; the bench has none.
  localparam CVA6ConfigFetchUserEn    = 0;
  localparam CVA6ConfigFetchUserWidth = CVA6ConfigXlen;
  localparam CVA6ConfigDataUserEn     = 0;
  localparam CVA6ConfigDataUserWidth  = CVA6ConfigXlen;

  // Registers are not renamed.
  localparam CVA6ConfigRenameEn       = 0;
endpackage
