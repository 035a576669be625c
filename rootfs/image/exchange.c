#include "rootfs/image/exchange.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- what curl calls ---- */

/* Whatever a name resolves to, and whatever a proxy variable says: plain HTTP stays on this machine. */
static bool is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)address;
		return ntohl(in->sin_addr.s_addr) >> 24 == 127;
	}
	if (address->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
	return false;
}

static curl_socket_t on_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct exchange *x = context;
	(void)purpose;
	if (strncmp(x->url, "http://", 7) == 0 && !is_loopback(&address->addr)) {
		x->fatal = true;
		err_host(&x->err, "plain http is for loopback addresses, and the name has another");
		return CURL_SOCKET_BAD;
	}
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void take_field(char *to, size_t size, const char *value, size_t len)
{
	if (len < size) {
		memcpy(to, value, len);
		to[len] = '\0';
	}
}

static void see_header(struct answer *a, const char *name, const char *value, size_t len)
{
	if (strcasecmp(name, "content-type") == 0)
		take_field(a->type, sizeof(a->type), value, len);
	else if (strcasecmp(name, "docker-content-digest") == 0)
		take_field(a->digest, sizeof(a->digest), value, len);
	else if (strcasecmp(name, "content-range") == 0)
		take_field(a->range, sizeof(a->range), value, len);
	else if (strcasecmp(name, "location") == 0)
		take_field(a->location, sizeof(a->location), value, len);
	if (strcasecmp(name, "location") == 0)
		a->location_too_long = len >= sizeof(a->location);
	if (strcasecmp(name, "www-authenticate") != 0)
		return;
	if (len > 7 && strncasecmp(value, "bearer ", 7) == 0)
		take_field(a->bearer, sizeof(a->bearer), value + 7, len - 7);
	if (len >= 5 && strncasecmp(value, "basic", 5) == 0)
		a->basic = true;
}

static size_t on_header(char *line, size_t size, size_t count, void *context)
{
	struct exchange *x = context;
	struct answer *a = &x->answer;
	size_t len = size * count;
	if (len > 5 &&
	    memcmp(line, "HTTP/", 5) == 0) /* another answer than the one before, a 100 perhaps */
		*a = (struct answer){.header_bytes = a->header_bytes};
	a->header_bytes += len;
	if (a->header_bytes > EXCHANGE_HEADERS_MAX) {
		x->fatal = true;
		err_host(&x->err, "more than %d bytes of headers", EXCHANGE_HEADERS_MAX);
		return 0;
	}
	char name[32];
	const char *colon = memchr(line, ':', len);
	if (!colon || (size_t)(colon - line) >= sizeof(name))
		return len;
	take_field(name, sizeof(name), line, (size_t)(colon - line));
	const char *value = colon + 1, *end = line + len;
	while (value < end && (*value == ' ' || *value == '\t'))
		value++;
	while (end > value && strchr(" \t\r\n", end[-1]))
		end--;
	if (!memchr(value, '\0', (size_t)(end - value)))
		see_header(a, name, value, (size_t)(end - value));
	return len;
}

static long status_of(const struct exchange *x)
{
	long status = 0;
	curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

static bool status_is_good(long status)
{
	return status == 200 || status == 206;
}

/* "bytes FIRST-LAST/ALL" as it must be for what was asked. */
static bool range_fits(const struct exchange *x)
{
	uint64_t first = 0, last = 0, all = 0;
	char *end;
	if (strncmp(x->answer.range, "bytes ", 6) != 0)
		return false;
	first = strtoull(x->answer.range + 6, &end, 10);
	if (*end != '-')
		return false;
	last = strtoull(end + 1, &end, 10);
	if (*end != '/')
		return false;
	all = strtoull(end + 1, &end, 10);
	return !*end && first == x->from && all == x->expected && last == all - 1;
}

int exchange_begin(struct exchange *x, long status)
{
	curl_off_t length = -1;
	uint64_t at = status == 206 ? x->from : 0;
	if (status == 206 && !range_fits(x)) {
		x->misplaced = true;
		return err_host(&x->err, "an answer with another range than was asked for");
	}
	curl_easy_getinfo(x->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
	if (length >= 0 && x->expected != UINT64_MAX && (uint64_t)length != x->expected - at)
		return err_host(&x->err,
				"the registry sends %llu bytes where the manifest says %llu: wrong size",
				(unsigned long long)length + at, (unsigned long long)x->expected);
	x->begun = true;
	return x->sink->begin(x, at);
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
	struct exchange *x = context;
	size_t len = size * count;
	long status = status_of(x);
	if (!status_is_good(status)) {
		x->answer.error_bytes += len;
		return x->answer.error_bytes > EXCHANGE_ERROR_BODY_MAX ? 0 : len;
	}
	if ((x->begun || exchange_begin(x, status) == 0) && x->sink->bytes(x, bytes, len) == 0)
		return len;
	x->fatal = !x->misplaced;
	return 0;
}

/* ---- a request ---- */

/* Whether this hop goes to where the authorization is for. */
static bool at_home(const struct exchange *x)
{
	size_t len = strlen(x->r->base);
	return x->hops == 0 || (strncmp(x->url, x->r->base, len) == 0 && x->url[len] == '/');
}

static int add_header(struct exchange *x, const char *name, const char *value, struct err *e)
{
	autoarena a = ARENA_INIT;
	struct curl_slist *longer = curl_slist_append(x->headers,
						      arena_printf(&a, "%s: %s", name, value));
	if (!longer)
		return err_host(e, "out of memory");
	x->headers = longer;
	return 0;
}

static int set_headers(struct exchange *x, struct err *e)
{
	autoarena a = ARENA_INIT;
	const char *authorization = x->for_token ? x->authorization : x->r->authorization;
	bool home = x->for_token ? x->hops == 0 : at_home(x);
	x->serial = x->r->authorization_serial;
	if (x->accept && add_header(x, "Accept", x->accept, e) < 0)
		return -1;
	if (x->from > 0 &&
	    add_header(x, "Range", arena_printf(&a, "bytes=%llu-", (unsigned long long)x->from), e) <
		    0)
		return -1;
	return authorization && home ? add_header(x, "Authorization", authorization, e) : 0;
}

static void set_transport(struct exchange *x)
{
	const struct registry_options *o = x->r->o;
	bool plain = strncmp(x->url, "http://", 7) == 0;
	curl_easy_setopt(x->easy, CURLOPT_URL, x->url);
	curl_easy_setopt(x->easy, CURLOPT_PROTOCOLS_STR, plain ? "http" : "https");
	/* a proxy is another machine, which plain HTTP must not come to */
	if (plain)
		curl_easy_setopt(x->easy, CURLOPT_PROXY, "");
	curl_easy_setopt(x->easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	curl_easy_setopt(x->easy, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(x->easy, CURLOPT_SSL_VERIFYHOST, 2L);
	curl_easy_setopt(x->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(x->easy, CURLOPT_CAINFO, o->trust.file);
	curl_easy_setopt(x->easy, CURLOPT_CAPATH, o->trust.folder);
	curl_easy_setopt(x->easy, CURLOPT_PROXY_CAINFO, o->proxy_trust.file);
	curl_easy_setopt(x->easy, CURLOPT_PROXY_CAPATH, o->proxy_trust.folder);
	/* less to parse, and blobs side by side do not wait for each other on one connection */
	curl_easy_setopt(x->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(x->easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(x->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(x->easy, CURLOPT_CONNECTTIMEOUT, 30L);
	curl_easy_setopt(x->easy, CURLOPT_LOW_SPEED_LIMIT, (long)REGISTRY_RATE_MIN);
	curl_easy_setopt(x->easy, CURLOPT_LOW_SPEED_TIME, (long)o->stall_seconds);
	curl_easy_setopt(x->easy, CURLOPT_USERAGENT, "pinfold/" PINFOLD_VERSION);
}

static void set_callbacks(struct exchange *x)
{
	curl_easy_setopt(x->easy, CURLOPT_PRIVATE, x);
	curl_easy_setopt(x->easy, CURLOPT_HTTPHEADER, x->headers);
	curl_easy_setopt(x->easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(x->easy, CURLOPT_HEADERDATA, x);
	curl_easy_setopt(x->easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(x->easy, CURLOPT_WRITEDATA, x);
	curl_easy_setopt(x->easy, CURLOPT_OPENSOCKETFUNCTION, on_socket);
	curl_easy_setopt(x->easy, CURLOPT_OPENSOCKETDATA, x);
}

int exchange_start(struct exchange *x, CURL *easy, struct err *e)
{
	if (!x->url) {
		autoarena a = ARENA_INIT;
		x->url = strdup(x->path[0] == '/' ? arena_printf(&a, "%s%s", x->r->base, x->path)
						  : x->path);
		x->hops = 0;
	}
	x->easy = easy ? easy : curl_easy_init();
	if (!x->url || !x->easy)
		return err_host(e, "out of memory");
	curl_easy_reset(x->easy);
	x->answer = (struct answer){.header_bytes = 0};
	x->begun = x->misplaced = false;
	if (set_headers(x, e) < 0)
		return -1;
	set_transport(x);
	set_callbacks(x);
	return 0;
}

void exchange_stop(struct exchange *x)
{
	if (x->easy && x->easy != x->r->easy)
		curl_easy_cleanup(x->easy);
	x->easy = NULL;
	curl_slist_free_all(x->headers);
	x->headers = NULL;
}
