//! The program with the algorithm of its feature, or with none, on the board `qemu-virt`. It runs in M-mode on one hart
//! without other software; QEMU starts it as `-bios`.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

mod algorithm;

// The portable kernels are known at compile time, so that the compiler omits the hashes that the algorithm does not
// call.
#[cfg(not(feature = "choose"))]
hartlock_footprint::program!((), |(), case| {
    algorithm::verify(&hartlock_kernels::Kernels::PORTABLE, case)
});

// The kernels of this hart are selected at run time, as in a boot stage.
#[cfg(feature = "choose")]
hartlock_footprint::program!(
    {
        let choice = hartlock_virt::kernels::choose(hartlock_virt::kernels::PrivilegeMode::Machine);
        hartlock_virt::kernels::print(&choice);
        choice.kernels
    },
    algorithm::verify
);
