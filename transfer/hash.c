#include "transfer/hash.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)

#include <immintrin.h>
#include <sys/platform/x86.h>

/* FIPS 180-4, 4.2.2 */
static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

/* As libc found at its start: under a hypervisor each CPUID costs more than a small file's hash. */
static bool have_instructions(void)
{
	return CPU_FEATURE_ACTIVE(SHA) && CPU_FEATURE_ACTIVE(SSE4_1) && CPU_FEATURE_ACTIVE(SSSE3);
}

#define WITH_INSTRUCTIONS __attribute__((target("sha,sse4.1,ssse3"), always_inline)) static inline

/* Four rounds with the words w. */
WITH_INSTRUCTIONS void four_rounds(__m128i *abef, __m128i *cdgh, __m128i w, const uint32_t *k)
{
	const __m128i sum = _mm_add_epi32(w, _mm_loadu_si128((const __m128i *)k));
	*cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, sum);
	*abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(sum, 0x0e));
}

/* Of the last sixteen words of the schedule, a the oldest four: the next four. */
WITH_INSTRUCTIONS __m128i next_words(__m128i a, __m128i b, __m128i c, __m128i d)
{
	const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(a, b), _mm_alignr_epi8(d, c, 4));
	return _mm_sha256msg2_epu32(sum, d);
}

/* The words of the schedule have a name each, not an index: they stay in registers. */
WITH_INSTRUCTIONS void rounds(__m128i *abef, __m128i *cdgh, const uint8_t *p)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	const __m128i *words = (const __m128i *)p;
	const uint32_t *k = constants;
	__m128i w0 = _mm_shuffle_epi8(_mm_loadu_si128(words), swap);
	__m128i w1 = _mm_shuffle_epi8(_mm_loadu_si128(words + 1), swap);
	__m128i w2 = _mm_shuffle_epi8(_mm_loadu_si128(words + 2), swap);
	__m128i w3 = _mm_shuffle_epi8(_mm_loadu_si128(words + 3), swap);
	for (; k < constants + 48; k += 16) {
		four_rounds(abef, cdgh, w0, k);
		w0 = next_words(w0, w1, w2, w3);
		four_rounds(abef, cdgh, w1, k + 4);
		w1 = next_words(w1, w2, w3, w0);
		four_rounds(abef, cdgh, w2, k + 8);
		w2 = next_words(w2, w3, w0, w1);
		four_rounds(abef, cdgh, w3, k + 12);
		w3 = next_words(w3, w0, w1, w2);
	}
	four_rounds(abef, cdgh, w0, k);
	four_rounds(abef, cdgh, w1, k + 4);
	four_rounds(abef, cdgh, w2, k + 8);
	four_rounds(abef, cdgh, w3, k + 12);
}

__attribute__((target("sha,sse4.1,ssse3"))) static void compress(uint32_t state[8],
								 const uint8_t *p, size_t blocks)
{
	const __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
	const __m128i high = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
	__m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0);
	for (; blocks > 0; blocks--, p += 64) {
		const __m128i before_abef = abef, before_cdgh = cdgh;
		rounds(&abef, &cdgh, p);
		abef = _mm_add_epi32(abef, before_abef);
		cdgh = _mm_add_epi32(cdgh, before_cdgh);
	}
	const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
	_mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
	_mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#else

static bool have_instructions(void)
{
	return false;
}

static void compress(uint32_t state[8], const uint8_t *p, size_t blocks)
{
	(void)state, (void)p, (void)blocks;
}

#endif

void hash_begin(struct hash *h, bool portable)
{
	/* FIPS 180-4, 5.3.3 */
	*h = (struct hash){.fast = !portable && have_instructions(),
			   .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
				     0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
	if (!h->fast)
		SHA256Init(&h->md);
}

void hash_add(struct hash *h, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	size_t used = h->bytes % sizeof(h->block);
	if (!h->fast) {
		SHA256Update(&h->md, p, len);
		return;
	}
	h->bytes += len;
	if (used > 0) {
		const size_t left = sizeof(h->block) - used, some = len < left ? len : left;
		memcpy(h->block + used, p, some);
		p += some;
		len -= some;
		if (some < left)
			return;
		compress(h->state, h->block, 1);
	}
	compress(h->state, p, len / sizeof(h->block));
	memcpy(h->block, p + len / sizeof(h->block) * sizeof(h->block), len % sizeof(h->block));
}

/* FIPS 180-4, 5.1.1: one bit, zeroes, the length in bits. */
void hash_end(struct hash *h, char digest[65])
{
	static const uint8_t padding[64] = {0x80};
	const uint64_t bits = htobe64(h->bytes * 8);
	if (!h->fast) {
		SHA256End(&h->md, digest);
		return;
	}
	hash_add(h, padding, 1 + (119 - h->bytes % 64) % 64);
	hash_add(h, &bits, sizeof(bits));
	for (int i = 0; i < 8; i++)
		snprintf(digest + 8 * i, 9, "%08x", h->state[i]);
}
