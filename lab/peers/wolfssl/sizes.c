/* Bytes of wolfCrypt's keys, as lab/signatures/peers/src/wolfssl.rs makes room for them. */

#include <wolfssl/wolfcrypt/settings.h>

#include <wolfssl/wolfcrypt/ecc.h>
#include <wolfssl/wolfcrypt/ed25519.h>
#include <wolfssl/wolfcrypt/rsa.h>
#include <wolfssl/wolfcrypt/wc_lms.h>
#include <wolfssl/wolfcrypt/wc_mldsa.h>
#include <wolfssl/wolfcrypt/wc_slhdsa.h>
#include <wolfssl/wolfcrypt/wc_xmss.h>

_Static_assert(sizeof(ed25519_key) == 112, "Ed25519");
_Static_assert(sizeof(ecc_key) == 3176, "ECDSA");
_Static_assert(sizeof(RsaKey) == 1600, "RSA");
_Static_assert(sizeof(LmsKey) == 80, "LMS");
_Static_assert(sizeof(XmssKey) == 160, "XMSS");
_Static_assert(sizeof(wc_MlDsaKey) == 3032, "ML-DSA");
_Static_assert(sizeof(SlhDsaKey) == 1192, "SLH-DSA");
