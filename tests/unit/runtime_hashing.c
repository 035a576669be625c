/* Digests of files in pieces, with holes, one after the other through one ring: those of the whole. */
#include "runtime/hashing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FILES = 40, MOST = 3 * HASHING_BLOCK };

struct example {
	uint8_t *bytes;
	size_t size;
};

/* Zeroes and not, in stretches that fit no block. */
static struct example example(unsigned number)
{
	const size_t size = number % 5 == 0 ? number : (number * 77777U) % MOST;
	struct example e = {calloc(1, size + 1), size};
	for (size_t at = 0; at < size; at++)
		e.bytes[at] = (at / (1000 + number)) % 2 ? (uint8_t)(at * 31 + number) : 0;
	return e;
}

static void expect(struct hashing *h, unsigned number)
{
	char digest[65], want[65];
	const struct example e = example(number);
	SHA256Data(e.bytes, e.size, want);
	hashing_take(h, digest);
	assert_string_equal(digest, want);
	free(e.bytes);
}

/* Stretches of zeroes are holes. */
static void feed_as(void (*begin)(struct hashing *, uint64_t), struct hashing *h, unsigned number)
{
	const struct example e = example(number);
	const size_t stretch = 1000 + number;
	begin(h, e.size);
	for (size_t at = stretch; at < e.size; at += 2 * stretch) {
		const size_t len = e.size - at < stretch ? e.size - at : stretch;
		memcpy(hashing_room(h), e.bytes + at, len);
		hashing_add(h, len, at);
	}
	hashing_end(h, e.size);
	free(e.bytes);
}

static void feed(struct hashing *h, unsigned number)
{
	feed_as(hashing_begin, h, number);
}

static void files_in_a_row(void **state)
{
	struct hashing h;
	unsigned taken = 0;
	(void)state;
	assert_true(hashing_open(&h));
	for (unsigned number = 0; number < FILES; number++) {
		if (number - taken == HASHING_FILES)
			expect(&h, taken++);
		feed(&h, number);
		if (number % 7 == 0)
			hashing_idle(&h);
	}
	while (taken < FILES)
		expect(&h, taken++);
	assert_true(h.started);
	hashing_close(&h);
}

/* Those of trees, between others and behind them, with a thread and before there is one. */
static void awaited(void **state)
{
	struct hashing h;
	(void)state;
	assert_true(hashing_open(&h));
	for (unsigned number = 0; number < FILES; number++) {
		feed_as(hashing_begin_awaited, &h, number);
		expect(&h, number);
		if (number % 3)
			continue;
		feed(&h, number);
		feed(&h, number + 5);
		expect(&h, number);
		expect(&h, number + 5);
	}
	assert_true(h.started);
	hashing_close(&h);
}

/* Small files alone need no thread; what was begun and not ended harms nobody. */
static void without_a_thread(void **state)
{
	struct hashing h;
	(void)state;
	assert_true(hashing_open(&h));
	for (unsigned number = 0; number < 10; number += 5) {
		feed(&h, number);
		expect(&h, number);
	}
	assert_false(h.started);
	hashing_begin(&h, 1 << 20);
	memset(hashing_room(&h), 'x', HASHING_BLOCK);
	hashing_add(&h, HASHING_BLOCK, 0);
	hashing_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_in_a_row),
		cmocka_unit_test(awaited),
		cmocka_unit_test(without_a_thread),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
