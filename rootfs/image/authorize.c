/* 401: who gives a token, and to whom it is shown. */
#include "rootfs/image/exchange.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- challenges ---- */

static const char *skip(const char *c, const char *set)
{
	return c + strspn(c, set);
}

/* One value, quoted or not, copied to the arena; NULL if it does not end. */
static const char *take_value(const char *c, struct arena *a, char **value)
{
	char *to = *value = arena_alloc(a, strlen(c) + 1);
	if (*c != '"') {
		size_t len = strcspn(c, ", \t");
		memcpy(to, c, len);
		return c + len;
	}
	for (c++; *c && *c != '"'; c++) {
		if (*c == '\\' && c[1])
			c++;
		*to++ = *c;
	}
	return *c ? c + 1 : NULL;
}

/* The value of name in `name="value",name=value...`. NULL: not there, or not that form. */
static char *parameter(const char *c, const char *name, struct arena *a)
{
	while (*(c = skip(c, ", \t"))) {
		char *value;
		size_t len = strcspn(c, "=, \t");
		bool found = len == strlen(name) && strncasecmp(c, name, len) == 0;
		c = skip(c + len, " \t");
		if (*c != '=')
			return NULL;
		c = take_value(skip(c + 1, " \t"), a, &value);
		if (!c || found)
			return c ? value : NULL;
	}
	return NULL;
}

/* ---- tokens ---- */

/* realm?service=...&scope=... The scope is what we need, whatever the challenge would like us to ask for. */
static char *token_url(struct registry *r, const char *bearer, struct arena *a, struct err *e)
{
	const char *realm = parameter(bearer, "realm", a), *service = parameter(bearer, "service", a);
	if (!realm) {
		err_host(e, "it does not say where a token comes from");
		return NULL;
	}
	char *checked = exchange_next_url(r, NULL, realm, e), *whole = NULL;
	if (!checked)
		return NULL;
	CURLU *url = curl_url();
	unsigned int append = CURLU_APPENDQUERY | CURLU_URLENCODE;
	if (url && curl_url_set(url, CURLUPART_URL, checked, 0) == CURLUE_OK &&
	    (!service || curl_url_set(url, CURLUPART_QUERY, arena_printf(a, "service=%s", service),
				      append) == CURLUE_OK) &&
	    curl_url_set(url, CURLUPART_QUERY,
			 arena_printf(a, "scope=repository:%s:pull", r->ref->repository),
			 append) == CURLUE_OK)
		curl_url_get(url, CURLUPART_URL, &whole, 0);
	char *copy = whole ? arena_strdup(a, whole) : NULL;
	curl_free(whole);
	curl_url_cleanup(url);
	free(checked);
	if (!copy)
		err_host(e, "it names no address for a token");
	return copy;
}

/* It will be part of a header: visible ASCII, so that it cannot end its line. */
static bool valid_token(const char *token)
{
	size_t len = 0;
	for (; token[len]; len++) {
		if (token[len] <= 0x20 || token[len] >= 0x7f)
			return false;
	}
	return len > 0;
}

static int read_token(const struct document *d, struct arena *a, const char **token, struct err *e)
{
	const char *text, *access;
	autojson *root = json_read("token", (struct json_bytes){d->text, d->len}, e);
	if (!root || json_member_text(root, "token", &text, e) < 0 ||
	    json_member_text(root, "access_token", &access, e) < 0)
		return -1;
	text = text && *text ? text : access;
	if (!text || !valid_token(text))
		return err_host(e, "no token in the answer");
	*token = arena_strdup(a, text);
	return 0;
}

static int replace_authorization(struct registry *r, const char *scheme, const char *secret,
				 struct err *e)
{
	autoarena a = ARENA_INIT;
	char *copy = strdup(arena_printf(&a, "%s %s", scheme, secret));
	if (!copy)
		return err_host(e, "out of memory");
	free(r->authorization);
	r->authorization = copy;
	r->authorization_serial++;
	return 0;
}

/* What to do about it, for whoever has no credentials and would need some. */
static int explain_none(const struct registry *r, struct err *e)
{
	if (r->credentials.basic[0])
		return -1;
	if (!r->o->auth_file)
		return err_wrap(e, "no file with credentials was given");
	return err_wrap(e, "no credentials in %s: %s", r->o->auth_file, r->credentials.why_none);
}

static int get_token(struct registry *r, const char *bearer, struct err *e)
{
	autoarena a = ARENA_INIT;
	const char *token = NULL, *url = token_url(r, bearer, &a, e);
	autodocument d = {.max = EXCHANGE_TOKEN_MAX};
	d.x.r = r;
	d.x.what = "token";
	d.x.for_token = true;
	d.x.path = url;
	if (!url)
		return err_wrap(e, "token");
	if (r->credentials.basic[0])
		d.x.authorization = arena_printf(&a, "Basic %s", r->credentials.basic);
	if (document_fetch(&d, e) < 0)
		return d.x.refused ? explain_none(r, e) : -1;
	return read_token(&d, &a, &token, e) < 0 ? -1 : replace_authorization(r, "Bearer", token, e);
}

int registry_authorize(struct registry *r, const struct answer *answer, struct err *e)
{
	if (answer->bearer[0])
		return get_token(r, answer->bearer, e);
	if (!answer->basic)
		return err_host(e, "it wants an authorization (401) of a kind that is not known");
	if (!r->credentials.basic[0]) {
		err_host(e, "credentials are needed (401)");
		return explain_none(r, e);
	}
	return replace_authorization(r, "Basic", r->credentials.basic, e);
}
