//! Constants of the curve, in limbs. A test derives each of them from its definition in RFC 8032
//! §5.1.

use super::field::Fe;
use super::point::Addend;

/// The constant d = -121665 / 121666.
pub(super) const D: Fe = Fe::from_limbs([
    0x3_4dca_1359_78a3,
    0x1_a828_3b15_6ebd,
    0x5_e7a2_6001_c029,
    0x7_39c6_63a0_3cbb,
    0x5_2036_cee2_b6ff,
]);

pub(super) const TWICE_D: Fe = Fe::from_limbs([
    0x6_9b94_26b2_f159,
    0x3_5050_762a_dd7a,
    0x3_cf44_c003_8052,
    0x6_738c_c740_7977,
    0x2_406d_9dc5_6dff,
]);

/// A square root of -1, which is 2 ^ ((p - 1) / 4).
pub(super) const SQRT_MINUS_ONE: Fe = Fe::from_limbs([
    0x6_1b27_4a0e_a0b0,
    0x0_d5a5_fc8f_189d,
    0x7_ef5e_9cbd_0c60,
    0x7_8595_a680_4c9e,
    0x2_b832_4804_fc1d,
]);

/// The odd multiples B, 3B .. 15B of the base point B, which has y = 4 / 5 and an even x. All have
/// Z = 1.
pub(super) static BASE_MULTIPLES: [Addend; 8] = [
    Addend {
        y_plus_x: Fe::from_limbs([
            0x4_93c6_f58c_3b85,
            0x0_df71_81c3_25f7,
            0x0_f50b_0b3e_4cb7,
            0x5_3293_85a4_4c32,
            0x0_7cf9_d3a3_3d4b,
        ]),
        y_minus_x: Fe::from_limbs([
            0x0_3905_d740_913e,
            0x0_ba28_17d6_73a2,
            0x2_3e28_27f4_e67c,
            0x1_33d2_e0c2_1a34,
            0x4_4fd2_f929_8f81,
        ]),
        twice_dt: Fe::from_limbs([
            0x1_1205_877a_aa68,
            0x4_7995_5893_d579,
            0x5_0d66_309b_67a0,
            0x2_d42d_0dbe_e5ee,
            0x6_f117_b689_f0c6,
        ]),
    },
    Addend {
        y_plus_x: Fe::from_limbs([
            0x5_b0a8_4cee_9730,
            0x6_1d10_c971_55e4,
            0x4_059c_c809_6a10,
            0x4_7a60_8da8_014f,
            0x7_a164_e1b9_a80f,
        ]),
        y_minus_x: Fe::from_limbs([
            0x1_1fe8_a4fc_d265,
            0x7_bcb8_374f_aacc,
            0x5_2f5a_f4ef_4d4f,
            0x5_3140_98f9_8d10,
            0x2_ab91_5875_55bd,
        ]),
        twice_dt: Fe::from_limbs([
            0x6_933f_0dd0_d889,
            0x4_4386_bb4c_4295,
            0x3_cb6d_3162_508c,
            0x2_6368_b872_a2c6,
            0x5_a282_6af1_2b9b,
        ]),
    },
    Addend {
        y_plus_x: Fe::from_limbs([
            0x2_bc44_08a5_bb33,
            0x0_78eb_dda0_5442,
            0x2_ffb1_1235_4123,
            0x3_75ee_8df5_862d,
            0x2_945c_cf14_6e20,
        ]),
        y_minus_x: Fe::from_limbs([
            0x1_82c3_a447_d6ba,
            0x2_2964_e536_eff2,
            0x1_9282_1f54_0053,
            0x2_f9f1_9e78_8e5c,
            0x1_54a7_e73e_b1b5,
        ]),
        twice_dt: Fe::from_limbs([
            0x3_dbf1_812a_8285,
            0x0_fa17_ba3f_9797,
            0x6_f69c_b49c_3820,
            0x3_4d5a_0db3_858d,
            0x4_3aab_e696_b3bb,
        ]),
    },
    Addend {
        y_plus_x: Fe::from_limbs([
            0x2_5cd0_944e_a3bf,
            0x7_5673_b81a_4d63,
            0x1_50b9_25d1_c0d4,
            0x1_3f38_d929_4114,
            0x4_61be_a692_83c9,
        ]),
        y_minus_x: Fe::from_limbs([
            0x7_2c9a_aa32_21b1,
            0x2_6777_4474_f74d,
            0x0_64b0_e9b2_8085,
            0x3_f04e_f53b_27c9,
            0x1_d6ed_d5d2_e531,
        ]),
        twice_dt: Fe::from_limbs([
            0x3_6dc8_01b8_b3a2,
            0x0_e0a7_d493_5e30,
            0x1_deb7_cecc_0d7d,
            0x0_53a9_4e20_dd2c,
            0x7_a9fb_b1c6_a0f9,
        ]),
    },
    Addend {
        y_plus_x: Fe::from_limbs([
            0x6_678a_a6a8_632f,
            0x5_ea37_88d8_b365,
            0x2_1bd6_d699_4279,
            0x7_ace7_5919_e4e3,
            0x3_4b9e_d338_add7,
        ]),
        y_minus_x: Fe::from_limbs([
            0x6_217e_039d_8064,
            0x6_dea4_0833_7e6d,
            0x5_7ac1_1262_8206,
            0x6_47cb_65e3_0473,
            0x4_9c05_a51f_adc9,
        ]),
        twice_dt: Fe::from_limbs([
            0x4_e8bf_9045_af1b,
            0x5_14e3_3a45_e0d6,
            0x7_533c_5b8b_fe0f,
            0x5_8355_7b7e_14c9,
            0x7_3c17_2021_b008,
        ]),
    },
    Addend {
        y_plus_x: Fe::from_limbs([
            0x7_0084_8a80_2ade,
            0x1_e046_05c4_e5f7,
            0x5_c0d0_1b97_67fb,
            0x7_d788_9f42_388b,
            0x4_275a_ae25_46d8,
        ]),
        y_minus_x: Fe::from_limbs([
            0x7_5b02_4986_4348,
            0x5_2ee1_1070_262b,
            0x2_37ae_54fb_5acd,
            0x3_bfd1_d03a_aab5,
            0x1_8ab5_9802_9d5c,
        ]),
        twice_dt: Fe::from_limbs([
            0x3_2cc5_fd60_89e9,
            0x4_2650_5c94_9b05,
            0x4_6a18_880c_7ad2,
            0x4_a422_1888_ccda,
            0x3_dc65_522b_53df,
        ]),
    },
    Addend {
        y_plus_x: Fe::from_limbs([
            0x0_c222_a200_7f6d,
            0x3_56b7_9bdb_77ee,
            0x4_1ee8_1efe_12ce,
            0x1_20a9_bd07_097d,
            0x2_34fd_7eec_346f,
        ]),
        y_minus_x: Fe::from_limbs([
            0x7_013b_327f_bf93,
            0x1_336e_eded_6a0d,
            0x2_b565_a2bb_f3af,
            0x2_53ce_8959_1955,
            0x0_2678_82d1_7602,
        ]),
        twice_dt: Fe::from_limbs([
            0x0_a119_732e_a378,
            0x6_3bf1_ba8e_2a6c,
            0x6_9f94_cc90_df9a,
            0x4_31d1_779b_fc48,
            0x4_97ba_6fda_a097,
        ]),
    },
    Addend {
        y_plus_x: Fe::from_limbs([
            0x6_cc03_13cf_eaa0,
            0x1_a313_848d_a499,
            0x7_cb53_4219_230a,
            0x3_9596_dede_fd60,
            0x6_1e22_917f_12de,
        ]),
        y_minus_x: Fe::from_limbs([
            0x3_cd86_468c_cf0b,
            0x4_8553_221a_c081,
            0x6_c946_4b4e_0a6e,
            0x7_5fba_8418_0403,
            0x4_3b5c_d421_8d05,
        ]),
        twice_dt: Fe::from_limbs([
            0x2_762f_9bd0_b516,
            0x1_c6e7_fbdd_cbb3,
            0x7_5909_c3ac_e2bd,
            0x4_2101_972d_3ec9,
            0x5_11d6_1210_ae4d,
        ]),
    },
];
