#pragma once
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// OpenSSL 3.0 calls these three outdated, which Swift would repeat as a warning at each use. They stay because
// EVP_PKEY_verify comes to the same check, but takes a signature as DER, reads it, and writes it again to see whether it
// is what was read: two hundredths of the time of a check on P-256, for a signature that never was DER.

// A reference of the caller's own to the key in the form for the calls on curves; null for a key that is on no curve.
static inline EC_KEY *assay_openssl_curve_key(EVP_PKEY *key) { return EVP_PKEY_get1_EC_KEY(key); }

static inline void assay_openssl_free_curve_key(EC_KEY *key) { EC_KEY_free(key); }

// 1 for a valid signature, 0 for one that is not, -1 for a failure.
static inline int assay_openssl_check_ecdsa(
    const unsigned char *digest, int count, const ECDSA_SIG *signature, EC_KEY *key
) {
    return ECDSA_do_verify(digest, count, signature, key);
}
