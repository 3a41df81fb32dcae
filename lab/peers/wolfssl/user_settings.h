/* Configuration of wolfCrypt where the lab counts it (lab/src/peers/libraries.rs): what verifies signatures, with all of
 * its assembly for RISC-V, on a bare hart. Beside it the lab names the extensions of a hart:
 * WOLFSSL_RISCV_BASE_BIT_MANIPULATION is Zbb, WOLFSSL_RISCV_SCALAR_CRYPTO_ASM is Zknh, WOLFSSL_RISCV_VECTOR... are
 * the vector extensions. */

/* A bare hart: no files, threads, network, clock, random numbers. */
#define WOLFCRYPT_ONLY
#define SINGLE_THREADED
#define NO_FILESYSTEM
#define NO_WRITEV
#define NO_MAIN_DRIVER
#define NO_ERROR_STRINGS
#define NO_ASN_TIME
#define USER_TIME
#define WC_NO_RNG
#define WC_NO_HASHDRBG
#define WOLFSSL_NO_SOCK
#define SIZEOF_LONG 8
#define SIZEOF_LONG_LONG 8
/* Its configure script finds this out. */
#define HAVE___UINT128_T 1

/* Assembly: hashes, and numbers of the curves and of RSA. */
#define WOLFSSL_RISCV_ASM
#define WOLFSSL_SP_RISCV64
#define WOLFSSL_SP_RISCV64_ASM
#define WOLFSSL_SP_MATH_ALL
#define WOLFSSL_HAVE_SP_ECC
#define WOLFSSL_HAVE_SP_RSA
#define WOLFSSL_SP_384

/* Nothing here is secret: tables are read where they are needed. */
#define WC_NO_CACHE_RESISTANT
#define WC_NO_HARDEN

/* Algorithms. Without WOLFSSL_VALIDATE_ECC_IMPORT the point of a key is still proven to be on its curve, as ours is; with
 * it a multiple of it is computed, too, which proves nothing more for these curves. */
#define HAVE_ECC
#define HAVE_ECC384
#define ECC_USER_CURVES
#define ECC_SHAMIR
#define NO_ECC_SIGN
#define HAVE_ED25519
#define NO_ED25519_SIGN
#define WC_RSA_PSS
#define WOLFSSL_RSA_VERIFY_ONLY
#define WOLFSSL_RSA_PUBLIC_ONLY
#define WOLFSSL_SHA384
#define WOLFSSL_SHA512
#define WOLFSSL_SHA3
#define WOLFSSL_SHAKE128
#define WOLFSSL_SHAKE256
#define WOLFSSL_HAVE_MLDSA
#define WOLFSSL_MLDSA_VERIFY_ONLY
#define WOLFSSL_MLDSA_NO_ASN1
#define WOLFSSL_HAVE_SLHDSA
#define WOLFSSL_SLHDSA_SHA2
#define WOLFSSL_SLHDSA_VERIFY_ONLY
#define WOLFSSL_HAVE_LMS
#define WOLFSSL_LMS_VERIFY_ONLY
#define WOLFSSL_HAVE_XMSS
#define WOLFSSL_XMSS_VERIFY_ONLY

#define NO_AES
#define NO_AES_CBC
#define NO_DES3
#define NO_DH
#define NO_DSA
#define NO_MD4
#define NO_MD5
#define NO_OLD_TLS
#define NO_PKCS12
#define NO_PKCS8
#define NO_PSK
#define NO_PWDBASED
#define NO_RC4
#define NO_SHA
