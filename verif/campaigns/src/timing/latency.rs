//! The instructions whose time depends on no data, if the hart has Zkt and Zvkt.
//!
//! Names are those that QEMU's disassembler prints, with its short forms for special operands. No probe finds out
//! whether a hart has Zkt: an instruction works with it and without it. So this is a list of what the kernels rest on.

/// Zkt: the list of *RISC-V Cryptography Extensions, volume I: scalar*, version 1.0.1, chapter 5, as far as it is used, and the
/// pseudo-instructions of it. `rolw` and `rorw` are in it by the sentence that includes all of Zbkb. Compressed forms have the
/// names of their full forms.
const ZKT: &str = "lui auipc addi slti sltiu xori ori andi slli srli srai add sub sll slt sltu xor srl sra or and \
    addiw slliw srliw sraiw addw subw sllw srlw sraw mul mulh mulhu mulhsu mulw \
    li mv not neg negw sext.w seqz snez sltz sgtz nop zext.b \
    andn orn xnor rol ror rori rolw rorw roriw rev8 brev8 pack packh packw clmul clmulh xperm4 xperm8 \
    aes64es aes64esm aes64ds aes64dsm aes64im aes64ks1i aes64ks2 \
    sha256sum0 sha256sum1 sha256sig0 sha256sig1 sha512sum0 sha512sum1 sha512sig0 sha512sig1";

/// Zvkt: the list of volume II: vector, version 1.0.0, §2.15, as far as it is used. Masks, the indices of `vrgather`, and the
/// distances of shifts and slides are exempt; those of the kernels follow from the numbers of elements, or are constants.
const ZVKT: &str = "vadd.vv vadd.vx vadd.vi vsub.vv vsub.vx vand.vv vand.vx vand.vi vor.vv vor.vx vor.vi vxor.vv vxor.vx vxor.vi \
    vmseq.vi vmseq.vv vmsne.vi vmand.mm vmandn.mm vmv.v.v vmv.v.x vmv.v.i vmv.s.x vmv1r.v vmv2r.v vmv4r.v vmv8r.v \
    vmerge.vvm vmerge.vxm vmerge.vim vrgather.vv vsll.vi vsll.vx vsrl.vi vsrl.vx \
    vslidedown.vi vslidedown.vx vslideup.vi vslideup.vx \
    vandn.vv vandn.vx vbrev8.v vrev8.v vror.vi vror.vv vrol.vv vclmul.vv vclmul.vx vclmulh.vv vclmulh.vx";

/// Instructions of Zvkned, Zvkg, Zvknha and Zvknhb, which take the same time for all operands on every hart (volume II,
/// §2.4 to §2.6).
const VECTOR_CRYPTOGRAPHY: &str = "vaeskf1.vi vaeskf2.vi vaesem.vs vaesef.vs vaesz.vs vaesem.vv vaesef.vv vghsh.vv vgmul.vv vsha2ch.vv vsha2cl.vv vsha2ms.vv";

/// Jumps, loads, stores, and what sets or has numbers of elements: their targets, addresses and numbers are observed, and
/// none of them computes with data.
const OBSERVED: &str = "beq bne blt bge bltu bgeu beqz bnez blez bgez bltz bgtz ble bgt bleu bgtu j jal jalr jr ret \
    lb lh lw ld lbu lhu lwu sb sh sw sd csrrs vsetvli vsetivli vsetvl vid.v \
    vle8.v vle16.v vle32.v vle64.v vse8.v vse16.v vse32.v vse64.v vlse64.v vluxei8.v vluxei16.v vluxei32.v vluxei64.v \
    vsuxei16.v vl1re8.v vl1re32.v vl1re64.v vl4re8.v vl4re32.v vl4re64.v vl8re8.v vl8re32.v vl8re64.v vs1r.v vs4r.v vs8r.v";

/// Divisions, which are in no list. The interpreter compares their operands.
const COMPARED: &str = "div divu rem remu divw divuw remw remuw";

/// Returns true if the time of an instruction depends on no data that is not compared.
pub fn is_listed(name: &str) -> bool {
    [ZKT, ZVKT, VECTOR_CRYPTOGRAPHY, OBSERVED, COMPARED]
        .iter()
        .any(|list| list.split_whitespace().any(|listed| listed == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_lists_leave_out_is_not_listed() {
        for name in [
            "vdivu.vv",
            "vcompress.vm",
            "vredxor.vs",
            "vcpop.m",
            "vminu.vv",
            "cpop",
            "min",
            "fdiv.d",
            "",
        ] {
            assert!(!is_listed(name), "{name}");
        }
        assert!(["add", "vclmulh.vx", "vgmul.vv", "remu"].iter().all(|name| is_listed(name)));
    }
}
