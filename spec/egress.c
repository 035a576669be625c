#include "spec/egress.h"

#include "spec/parse.h"

#include <stdio.h>
#include <string.h>

enum { PORT_MAX = 65535, RULES_ROOM = 8, HOST_BYTES_MAX = 256 };

/* A rule while it is read. */
struct reading {
	const char *text;
	struct egress_rule rule;
	struct name name;
	char host[HOST_BYTES_MAX]; /* canonical, as it stands in the rule's text */
	struct egress_ports ports[EGRESS_PORTS_MAX + 1]; /* one too many, before they are counted */
	size_t ports_len;
};

static bool skip(const char **at, const char *with)
{
	size_t len = strlen(with);
	if (strncmp(*at, with, len) != 0)
		return false;
	*at += len;
	return true;
}

static int refuse(const struct reading *r, const char *what, struct err *e)
{
	return err_usage(e, "%s: %s", show(r->text).text, what);
}

/* ---- ports ---- */

/* One number from 1 to 65535; the first byte behind it, NULL: there is none. */
static const char *read_port(const char *at, uint16_t *port)
{
	unsigned int value = 0;
	size_t digits = 0;
	for (; digits < 6 && at[digits] >= '0' && at[digits] <= '9'; digits++)
		value = value * 10 + (unsigned int)(at[digits] - '0');
	if (digits == 0 || at[0] == '0' || value > PORT_MAX)
		return NULL;
	*port = (uint16_t)value;
	return at + digits;
}

static int refuse_ports(const struct reading *r, struct err *e)
{
	return refuse(r, "behind the host stand ports from 1 to 65535: 443 or 80,443 or 8000-8010",
		      e);
}

/* Sorted by its first port, and one with all that it meets. */
static void insert_ports(struct reading *r, struct egress_ports p)
{
	size_t at = 0, end;
	while (at < r->ports_len && (unsigned int)r->ports[at].last + 1 < p.first)
		at++;
	for (end = at; end < r->ports_len && r->ports[end].first <= (unsigned int)p.last + 1; end++) {
		p.first = p.first < r->ports[end].first ? p.first : r->ports[end].first;
		p.last = p.last > r->ports[end].last ? p.last : r->ports[end].last;
	}
	memmove(&r->ports[at + 1], &r->ports[end], (r->ports_len - end) * sizeof(p));
	r->ports[at] = p;
	r->ports_len = r->ports_len - (end - at) + 1;
}

static size_t count_ports(const struct egress_ports *ports, size_t len)
{
	size_t count = 0;
	for (size_t i = 0; i < len; i++)
		count += (size_t)(ports[i].last - ports[i].first) + 1;
	return count;
}

static int read_ports(struct reading *r, const char *at, struct err *e)
{
	for (;; at++) {
		struct egress_ports p = {0, 0};
		at = read_port(at, &p.first);
		p.last = p.first;
		if (at && *at == '-')
			at = read_port(at + 1, &p.last);
		if (!at || p.last < p.first || (*at && *at != ','))
			return refuse_ports(r, e);
		if (p.last - p.first >= EGRESS_PORTS_MAX)
			return refuse(r,
				      "more than 256 ports, each of which costs a listening socket",
				      e);
		insert_ports(r, p);
		if (count_ports(r->ports, r->ports_len) > EGRESS_PORTS_MAX)
			return refuse(r,
				      "more than 256 ports, each of which costs a listening socket",
				      e);
		if (!*at)
			return 0;
	}
}

/* ---- names ---- */

static bool is_localhost(const struct name *n)
{
	static const char localhost[] = "localhost";
	size_t len = sizeof(localhost) - 1;
	return n->len >= len && strcmp(n->text + n->len - len, localhost) == 0 &&
	       (n->len == len || n->text[n->len - len - 1] == '.');
}

/* A host of that name would be read as the prefix. */
static bool is_prefix(const struct name *n)
{
	return strcmp(n->text, "private") == 0 || strcmp(n->text, "tcp") == 0 ||
	       strcmp(n->text, "udp") == 0;
}

static int refuse_name(const struct reading *r, enum name_fault fault, struct err *e)
{
	if (fault == NAME_DISGUISED)
		return refuse(r,
			      "the host ends in a number, as an address in disguise does; an IPv4 "
			      "address is four decimal numbers without leading zeros",
			      e);
	return err_usage(e, "%s: %s; rules are like packages.example:443", show(r->text).text,
			 name_fault_text(fault));
}

static int read_name(struct reading *r, const char *at, size_t len, struct err *e)
{
	bool wildcard = len >= 2 && at[0] == '*' && at[1] == '.';
	if (memchr(at, '*', len) && (!wildcard || memchr(at + 1, '*', len - 1)))
		return refuse(r,
			      "an asterisk is a whole label in front of a name: *.files.example:443",
			      e);
	size_t shift = wildcard ? 2 : 0;
	enum name_fault fault = name_read(&r->name, at + shift, len - shift);
	if (fault)
		return refuse_name(r, fault, e);
	if (wildcard && !strchr(r->name.text, '.'))
		return refuse(r, "a wildcard stands below two labels at least: *.files.example:443",
			      e);
	if (is_localhost(&r->name))
		return refuse(r,
			      "localhost is the sandbox itself; the host's own loopback is "
			      "private:127.0.0.1:PORT",
			      e);
	if (is_prefix(&r->name))
		return refuse(r, "private, tcp and udp are prefixes of rules and no hosts", e);
	r->rule.target = wildcard ? EGRESS_WILDCARD : EGRESS_NAME;
	snprintf(r->host, sizeof(r->host), "%s%s", wildcard ? "*." : "", r->name.text);
	return 0;
}

/* ---- addresses ---- */

static void mask(struct address *a, unsigned int prefix)
{
	for (unsigned int i = 0; i < 16; i++) {
		unsigned int keep = prefix > i * 8 ? prefix - i * 8 : 0;
		if (keep < 8)
			a->bytes[i] &= (unsigned char)(0xff00U >> keep);
	}
}

static void format_block(struct reading *r, bool ipv4, unsigned int bits)
{
	char text[ADDRESS_TEXT_BYTES], length[8] = "";
	address_format(&r->rule.network, text);
	if (r->rule.prefix < 128)
		snprintf(length, sizeof(length), "/%u", bits);
	snprintf(r->host, sizeof(r->host), ipv4 ? "%s%s" : "[%s%s]", text, length);
}

/* Two decimal digits or three, and nothing else. */
static bool read_bits(const char *at, size_t len, unsigned int *bits)
{
	*bits = 0;
	if (len == 0 || len > 3 || (len > 1 && at[0] == '0'))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (at[i] < '0' || at[i] > '9')
			return false;
		*bits = *bits * 10 + (unsigned int)(at[i] - '0');
	}
	return true;
}

static int check_class(const struct reading *r, struct err *e)
{
	enum address_class class = address_block_class(&r->rule.network, r->rule.prefix);
	if (class >= ADDRESS_MULTICAST)
		return err_usage(e, "%s: these are %s addresses; nobody can be connected to there",
				 show(r->text).text, address_class_name(class));
	if (class >= ADDRESS_LINK_LOCAL && !r->rule.private_too)
		return err_usage(e,
				 "%s: these are %s addresses; write private: in front if that is meant",
				 show(r->text).text, address_class_name(class));
	return 0;
}

/* What stands for an address: in brackets IPv6, else IPv4. */
static int read_block(struct reading *r, const char *at, size_t len, bool ipv4, struct err *e)
{
	const char *slash = memchr(at, '/', len);
	size_t address_len = slash ? (size_t)(slash - at) : len;
	unsigned int most = ipv4 ? 32 : 128, bits = most;
	if (!address_read(&r->rule.network, at, address_len))
		return refuse(r,
			      ipv4 ? "an IPv4 address is four decimal numbers without leading zeros: "
				     "10.1.2.0/24:5432"
				   : "in brackets stands an IPv6 address without a scope: "
				     "[2001:db8::/32]:443",
			      e);
	if (address_is_ipv4(&r->rule.network) != ipv4)
		return refuse(r, "an IPv4 address is written without brackets, as four numbers", e);
	if (slash && (!read_bits(slash + 1, len - address_len - 1, &bits) || bits > most))
		return err_usage(e, "%s: behind / stands the length of the prefix, 0 to %u",
				 show(r->text).text, most);
	struct address given = r->rule.network;
	r->rule.target = EGRESS_BLOCK;
	r->rule.prefix = bits + 128 - most;
	mask(&r->rule.network, r->rule.prefix);
	format_block(r, ipv4, bits);
	if (memcmp(&given, &r->rule.network, sizeof(given)) != 0)
		return err_usage(e,
				 "%s: the address has bits behind its prefix; write %s or the address alone",
				 show(r->text).text, r->host);
	return check_class(r, e);
}

/* ---- the whole rule ---- */

/* Who wrote only digits, dots and a slash meant an address. */
static bool looks_like_ipv4(const char *at, size_t len)
{
	return len > 0 && strspn(at, "0123456789./") >= len;
}

static int refuse_no_port(const struct reading *r, const char *at, struct err *e)
{
	if (strspn(at, "0123456789") == strlen(at))
		return refuse(r, "there is no host; rules are like packages.example:443", e);
	return refuse(r, "the port is missing; rules are like packages.example:443", e);
}

static int read_host(struct reading *r, const char *at, struct err *e)
{
	bool brackets = *at == '[';
	const char *end = brackets ? strchr(at, ']') : strchr(at, ':');
	if (brackets && !end)
		return refuse(r, "the closing bracket is missing: [2001:db8::/32]:443", e);
	if (!end || (brackets && end[1] != ':'))
		return refuse_no_port(r, at, e);
	if (strncmp(end, "://", 3) == 0 || memchr(at, '@', (size_t)(end - at)))
		return refuse(r, "a rule is no URL; rules are like packages.example:443", e);
	if (!brackets && strchr(end + 1, ':'))
		return refuse(r,
			      "too many colons; an IPv6 address stands in brackets ([2001:db8::1]:443), "
			      "and private: before tcp: or udp:",
			      e);
	size_t len = (size_t)(end - at);
	int done;
	if (brackets)
		done = read_block(r, at + 1, len - 1, false, e);
	else if (looks_like_ipv4(at, len))
		done = read_block(r, at, len, true, e);
	else
		done = read_name(r, at, len, e);
	return done < 0 ? -1 : read_ports(r, end + (brackets ? 2 : 1), e);
}

static void read_prefixes(struct reading *r, const char **at)
{
	r->rule.private_too = skip(at, "private:");
	if (skip(at, "udp:"))
		r->rule.transport = EGRESS_UDP;
	r->rule.unchecked = r->rule.transport == EGRESS_UDP || skip(at, "tcp:");
}

static const char *write_rule(const struct reading *r, struct arena *a)
{
	const struct egress_rule *rule = &r->rule;
	char text[sizeof("private:tcp:") + HOST_BYTES_MAX +
		  (EGRESS_PORTS_MAX + 1) * sizeof(":65535-65535")];
	const size_t size = sizeof(text);
	const char *transport = rule->transport == EGRESS_UDP ? "udp:" : "tcp:";
	size_t at = (size_t)snprintf(text, size, "%s%s%s", rule->private_too ? "private:" : "",
				     rule->unchecked ? transport : "", r->host);
	for (size_t i = 0; i < r->ports_len; i++) {
		const struct egress_ports *p = &r->ports[i];
		at += (size_t)snprintf(text + at, size - at, "%c%u", i ? ',' : ':', p->first);
		if (p->last > p->first)
			at += (size_t)snprintf(text + at, size - at, "-%u", p->last);
	}
	return arena_strdup(a, text);
}

int egress_rule_read(struct egress_rule *rule, const char *text, struct arena *a, struct err *e)
{
	struct reading r = {.text = text};
	const char *at = text;
	if (strlen(text) > EGRESS_RULE_BYTES_MAX)
		return refuse(&r, "the rule is longer than 2048 bytes", e);
	read_prefixes(&r, &at);
	if (read_host(&r, at, e) < 0)
		return -1;
	struct egress_ports *ports = arena_alloc(a, r.ports_len * sizeof(*ports));
	memcpy(ports, r.ports, r.ports_len * sizeof(*ports));
	r.rule.ports = ports;
	r.rule.ports_len = r.ports_len;
	if (r.rule.target != EGRESS_BLOCK) {
		struct name *name = arena_alloc(a, sizeof(*name));
		*name = r.name;
		r.rule.name = name;
	}
	r.rule.text = write_rule(&r, a);
	*rule = r.rule;
	return 0;
}

bool egress_rule_has_port(const struct egress_rule *r, uint16_t port)
{
	for (size_t i = 0; i < r->ports_len; i++) {
		if (port >= r->ports[i].first && port <= r->ports[i].last)
			return true;
	}
	return false;
}

enum egress_check egress_rule_check(const struct egress_rule *r, uint16_t port)
{
	if (r->target == EGRESS_BLOCK || r->unchecked)
		return EGRESS_RELAY;
	if (port == 443)
		return EGRESS_TLS;
	return port == 80 ? EGRESS_HTTP : EGRESS_RELAY;
}

/* ---- the list ---- */

/* The first rule whose text is not below that one; list->len: all are. */
static size_t find_place(const struct egress_list *list, const char *text)
{
	size_t from = 0, to = list->len;
	/* Those that come in their order belong behind the last one. */
	if (to > 0 && strcmp(list->rules[to - 1].text, text) < 0)
		return to;
	while (from < to) {
		const size_t middle = from + (to - from) / 2;
		if (strcmp(list->rules[middle].text, text) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* A port that both have and that they would treat differently; 0: none. */
static uint16_t contradiction(const struct egress_rule *a, const struct egress_rule *b)
{
	for (size_t i = 0; i < a->ports_len; i++) {
		for (unsigned int p = a->ports[i].first; p <= a->ports[i].last; p++) {
			uint16_t port = (uint16_t)p;
			if (egress_rule_has_port(b, port) &&
			    (a->private_too != b->private_too ||
			     egress_rule_check(a, port) != egress_rule_check(b, port)))
				return port;
		}
	}
	return 0;
}

/* Those whose text begins like this are for r's host and transport. */
static int check_like(const struct egress_list *list, const struct egress_rule *r, const char *begin,
		      struct err *e)
{
	const size_t len = strlen(begin);
	for (size_t i = find_place(list, begin); i < list->len; i++) {
		const struct egress_rule *other = &list->rules[i];
		if (strncmp(other->text, begin, len) != 0)
			break;
		const uint16_t port = contradiction(r, other);
		if (port)
			return err_usage(e, "%s contradicts %s for port %u; keep one of them",
					 show(r->text).text, show(other->text).text, port);
	}
	return 0;
}

/* A host has one spelling in canonical texts, so that rules for it stand together, once for each
 * way in which they can begin. */
static int check_contradictions(const struct egress_list *list, const struct egress_rule *r,
				struct err *e)
{
	static const char *const ways[EGRESS_TRANSPORTS][4] = {
		[EGRESS_TCP] = {"", "tcp:", "private:", "private:tcp:"},
		[EGRESS_UDP] = {"udp:", "private:udp:"}};
	const char *host = r->text;
	skip(&host, "private:");
	if (!skip(&host, "udp:"))
		skip(&host, "tcp:");
	const size_t len = strlen(host) - strlen(strrchr(host, ':')) + 1;
	for (size_t i = 0; i < 4 && ways[r->transport][i]; i++) {
		char begin[sizeof("private:tcp:") + HOST_BYTES_MAX];
		snprintf(begin, sizeof(begin), "%s%.*s", ways[r->transport][i], (int)len, host);
		if (check_like(list, r, begin, e) < 0)
			return -1;
	}
	return 0;
}

static int add_port(struct egress_list *list, enum egress_transport t, uint16_t port)
{
	uint16_t *ports = list->ports[t];
	size_t len = list->ports_len[t], at = 0;
	while (at < len && ports[at] < port)
		at++;
	if (at < len && ports[at] == port)
		return 0;
	if (list->ports_len[EGRESS_TCP] + list->ports_len[EGRESS_UDP] == EGRESS_PORTS_MAX)
		return -1;
	memmove(&ports[at + 1], &ports[at], (len - at) * sizeof(*ports));
	ports[at] = port;
	list->ports_len[t]++;
	return 0;
}

static int add_ports(struct egress_list *list, const struct egress_rule *r, struct err *e)
{
	for (size_t i = 0; i < r->ports_len; i++) {
		for (unsigned int p = r->ports[i].first; p <= r->ports[i].last; p++) {
			if (add_port(list, r->transport, (uint16_t)p) < 0)
				return err_usage(e,
						 "%s: with it the rules have more than 256 ports, each "
						 "of which costs a listening socket",
						 show(r->text).text);
		}
	}
	return 0;
}

void egress_list_reserve(struct egress_list *list, size_t rules, struct arena *a)
{
	if (rules <= list->room)
		return;
	struct egress_rule *grown = arena_alloc(a, rules * sizeof(*grown));
	if (list->len > 0)
		memcpy(grown, list->rules, list->len * sizeof(*grown));
	list->rules = grown;
	list->room = rules;
}

int egress_list_add(struct egress_list *list, const char *text, struct arena *a, struct err *e)
{
	struct egress_list next = *list;
	struct egress_rule rule = {.text = ""};
	if (egress_rule_read(&rule, text, a, e) < 0)
		return -1;
	const size_t at = find_place(&next, rule.text);
	if (at < next.len && strcmp(next.rules[at].text, rule.text) == 0)
		return 0;
	if (next.len == EGRESS_RULES_MAX)
		return err_usage(e, "%s: there are 20000 rules already; a wildcard stands for many",
				 show(text).text);
	next.bytes += strlen(rule.text);
	if (next.bytes > EGRESS_LIST_BYTES_MAX)
		return err_usage(e, "%s: with it the rules have more than 2 MiB", show(text).text);
	if (check_contradictions(&next, &rule, e) < 0 || add_ports(&next, &rule, e) < 0)
		return -1;
	if (next.len == next.room)
		egress_list_reserve(&next, next.room ? 2 * next.room : RULES_ROOM, a);
	memmove(&next.rules[at + 1], &next.rules[at], (next.len - at) * sizeof(rule));
	next.rules[at] = rule;
	next.len++;
	*list = next;
	return 0;
}
