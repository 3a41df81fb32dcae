//! The program with the algorithm of its feature, or with none, in the board `qemu-virt`: M-mode, one
//! hart, alone, started by QEMU as `-bios`.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

mod algorithm;

// The portable kernels, known to the compiler: it leaves out the hashes that the algorithm does not call.
#[cfg(not(feature = "choose"))]
hartlock_footprint::program!((), |(), case| {
    algorithm::verify(&hartlock_kernels::Kernels::PORTABLE, case)
});

// Kernels of this hart, as a boot stage chooses them.
#[cfg(feature = "choose")]
hartlock_footprint::program!(
    {
        let choice = hartlock_virt::kernels::choose(hartlock_virt::kernels::Mode::Machine);
        hartlock_virt::kernels::print(&choice);
        choice.kernels
    },
    algorithm::verify
);
