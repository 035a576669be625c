/* Any bytes as the beginning of a TLS connection. The verdict is the same in whatever pieces they
 * come, and whatever comes behind them; a good one has the name that was wanted somewhere in its
 * bytes. The same bytes as what a server answers, and as what stands before a second hello. */
#include "network/egress/hello.h"

#include "network/egress/retry.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static const char wanted_text[] = "packages.example";

/* Records may part the name, so this looks only where there is one. */
static int has_name(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i + sizeof(wanted_text) - 1 <= size; i++) {
		if (strncasecmp((const char *)data + i, wanted_text, sizeof(wanted_text) - 1) == 0)
			return 1;
	}
	return 0;
}

static void check_pieces(const struct name *wanted, const uint8_t *data, size_t size, size_t piece)
{
	struct hello whole, pieces;
	hello_init(&whole, wanted);
	hello_init(&pieces, wanted);
	enum hello_verdict v = hello_read(&whole, data, size), w = HELLO_MORE;
	size_t len = 0;
	for (; w == HELLO_MORE && len < size; w = hello_read(&pieces, data, len))
		len = size - len < piece ? size : len + piece;
	must(v == w || size == 0);
	must(whole.reason == pieces.reason && whole.has_name == pieces.has_name);
	must(v != HELLO_MORE || size < HELLO_BYTES_MAX);
	must((v == HELLO_REFUSED) == (whole.reason != HELLO_FINE));
	must(v != HELLO_GOOD || name_equal(&whole.name, wanted));
	must(v != HELLO_GOOD || whole.record > whole.collected + 5 || has_name(data, size));
}

static void check_answer(const uint8_t *data, size_t size)
{
	enum retry whole = retry_read(data, size), pieces = RETRY_MORE;
	for (size_t len = 0; pieces == RETRY_MORE && len < size && len < RETRY_BYTES_MAX;)
		pieces = retry_read(data, ++len);
	must(whole == pieces && (whole != RETRY_MORE || size < RETRY_BYTES_MAX));
	bool is_whole;
	must(retry_skip(data, size, &is_whole) <= size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct name wanted;
	if (size < 1)
		return 0;
	must(name_read(&wanted, wanted_text, sizeof(wanted_text) - 1) == NAME_GOOD);
	check_pieces(&wanted, data + 1, size - 1, 1 + (size_t)data[0]);
	check_answer(data + 1, size - 1);
	return 0;
}
