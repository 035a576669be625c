#include "rootfs/image/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] = "0123456789abcdef";

enum { SHOWN = 80 };

/* text as a terminal may see it, cut. */
static const char *shown(char *to, const char *text)
{
	size_t n = 0;
	for (; n < SHOWN - 1 && text[n]; n++)
		to[n] = (char)(text[n] > ' ' && text[n] <= '~' ? text[n] : '?');
	to[n] = '\0';
	return to;
}

int digest_parse(struct digest *d, const char *text, struct err *e)
{
	char said[SHOWN];
	const size_t prefix = sizeof(DIGEST_PREFIX) - 1;
	if (strncmp(text, DIGEST_PREFIX, prefix) != 0) {
		return err_usage(e, "digest %s: only sha256 is supported (" DIGEST_PREFIX "...)",
				 shown(said, text));
	}
	if (strlen(text) != prefix + DIGEST_HEX || strspn(text + prefix, digits) != DIGEST_HEX) {
		return err_usage(e,
				 "digest %s: not %d lower-case hexadecimal digits after " DIGEST_PREFIX,
				 shown(said, text), DIGEST_HEX);
	}
	memcpy(d->text, text, DIGEST_TEXT);
	return 0;
}

const char *digest_hex(const struct digest *d)
{
	return d->text + sizeof(DIGEST_PREFIX) - 1;
}

bool digest_same(const struct digest *a, const struct digest *b)
{
	return strcmp(a->text, b->text) == 0;
}

int hash_init(struct hash *h, struct err *e)
{
	EVP_MD_CTX *context = NULL;
	if (OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL))
		context = EVP_MD_CTX_new();
	if (!context || !EVP_DigestInit_ex(context, EVP_sha256(), NULL)) {
		EVP_MD_CTX_free(context);
		return err_host(e, "OpenSSL has no SHA-256");
	}
	h->context = context;
	return 0;
}

/* With an algorithm that is there these cannot fail. */
static void must(int holds)
{
	if (!holds)
		abort();
}

void hash_restart(struct hash *h)
{
	must(EVP_DigestInit_ex(h->context, NULL, NULL));
}

void hash_update(struct hash *h, const void *data, size_t len)
{
	must(EVP_DigestUpdate(h->context, data, len));
}

void hash_final(struct hash *h, struct digest *d)
{
	unsigned char raw[DIGEST_RAW];
	must(EVP_DigestFinal_ex(h->context, raw, NULL));
	char *at = d->text + sizeof(DIGEST_PREFIX) - 1;
	memcpy(d->text, DIGEST_PREFIX, sizeof(DIGEST_PREFIX) - 1);
	for (size_t i = 0; i < DIGEST_RAW; i++) {
		*at++ = digits[raw[i] >> 4];
		*at++ = digits[raw[i] & 15];
	}
	*at = '\0';
}

void hash_free(struct hash *h)
{
	EVP_MD_CTX_free(h->context);
	h->context = NULL;
}
