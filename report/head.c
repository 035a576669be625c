#include "report/page.h"

#include "transfer/hash.h"

#include <string.h>

static unsigned char digit(char c)
{
	return (unsigned char)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* The one style that may count is known by its digest, so that no other does. */
static void put_style_digest(struct html *h)
{
	char hex[65], raw[32];
	struct hash sha;
	hash_begin(&sha, false);
	hash_add(&sha, page_style, strlen(page_style));
	hash_end(&sha, hex);
	for (size_t i = 0; i < sizeof(raw); i++)
		raw[i] = (char)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
	html_base64(h, (struct bytes){raw, sizeof(raw)});
}

void page_put(struct html *h, struct bytes title, struct bytes body)
{
	html_markup(h, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		       "style-src 'sha256-");
	put_style_digest(h);
	html_markup(h, "'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
		       "<meta name=\"referrer\" content=\"no-referrer\">\n"
		       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		       "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	html_plain(h, title, title.len);
	html_markup(h, " \xe2\x80\x93 Pinfold</title>\n<style>");
	html_literal(h, page_style, strlen(page_style));
	html_markup(h, "</style>\n</head>\n<body>\n");
	html_literal(h, body.at, body.len);
	html_markup(h, "</body>\n</html>\n");
}
