/* Any bytes as the requests of a connection. The same passes, and the same is refused, in whatever
 * pieces they come; what passed passes again; and a simpler reader finds one Host in the first head. */
#include "network/egress/http.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

struct relay {
	struct http_reader r;
	const uint8_t *input;
	size_t size;   /* of the input */
	size_t passed; /* of it */
};

/* The caller's loop without its copies: the buffer is a window of the input. */
static void go_round(struct relay *c, const struct name *wanted, size_t piece)
{
	size_t len = 0;
	http_init(&c->r, wanted, 80);
	c->passed = 0;
	for (;;) {
		struct http_step step;
		enum http_verdict v = http_read(&c->r, c->input + c->passed, len, &step);
		if (v == HTTP_REFUSED)
			return;
		if (v == HTTP_MORE) {
			size_t left = c->size - c->passed - len, room = HTTP_BUFFER_BYTES - len;
			size_t take = left < piece ? left : piece;
			must(room > 0);
			take = take < room ? take : room;
			if (take == 0)
				return;
			len += take;
			continue;
		}
		must(step.pass_bytes <= len && (step.pass_bytes == len || step.splice_bytes == 0));
		must(step.pass_bytes > 0 || step.splice_bytes > 0);
		c->passed += step.pass_bytes;
		len -= step.pass_bytes;
		size_t left = c->size - c->passed;
		if (step.splice_bytes > left) {
			c->passed = c->size;
			return;
		}
		c->passed += (size_t)step.splice_bytes;
	}
}

/* Lines that begin with Host and a colon, up to the empty line. */
static void check_first_head(const uint8_t *data, size_t size)
{
	size_t hosts = 0, at = 0;
	for (;;) {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		must(end != NULL && end > data && end[-1] == '\r');
		size_t len = (size_t)(end - (data + at)) + 1;
		if (len == 2)
			break;
		if (strncasecmp((const char *)data + at, "host:", 5) == 0) {
			must(len >= 5 + 10 + 2 && memmem(data + at + 5, len - 5, ".", 1) != NULL);
			hosts++;
		}
		at += len;
	}
	must(hosts == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct relay whole, pieces, again;
	struct name wanted;
	if (size < 1)
		return 0;
	must(name_read(&wanted, "ok.example", 10) == NAME_GOOD);
	whole.input = pieces.input = again.input = data + 1;
	whole.size = pieces.size = size - 1;
	go_round(&whole, &wanted, size);
	go_round(&pieces, &wanted, 1 + (size_t)data[0]);
	must(whole.r.reason == pieces.r.reason);
	must(whole.passed == pieces.passed && whole.r.requests == pieces.r.requests);
	again.size = whole.passed;
	go_round(&again, &wanted, size);
	must(again.r.reason == HTTP_FINE && again.passed == whole.passed);
	must((whole.passed > 0) == (whole.r.requests > 0));
	if (whole.passed > 0)
		check_first_head(data + 1, whole.passed);
	return 0;
}
