#pragma once

// What Swift cannot say itself: macros, and what a version of OpenSSL lacks.

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/opensslv.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#if OPENSSL_VERSION_NUMBER < 0x30000000L
#error "CanonicalSync needs OpenSSL 3.0 or later."
#endif

/// Makes a key on the curve P-256; NULL if that fails.
static inline EVP_PKEY *ccrypto_make_p256_key(void) { return EVP_EC_gen("P-256"); }
