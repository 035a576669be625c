/* Any bytes as a query, by UDP and as a stream. What is a question for us is one for glibc's reader
 * too, with the same name and type, and every answer is a message that it reads. */
#include "network/egress/dns.h"
#include "network/egress/name.h"

#include <arpa/nameser.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static void check_name(const struct dns_query *q)
{
	char shown[NAME_SHOWN_BYTES];
	struct name again;
	name_show_wire(shown, q->question, q->wire_len);
	for (const char *c = shown; *c; c++)
		must(*c > 0x20 && *c < 0x7f);
	if (!q->is_host)
		return;
	must(strcasecmp(shown, q->name.text) == 0);
	must(name_read(&again, q->name.text, q->name.len) == NAME_GOOD &&
	     name_equal(&again, &q->name));
}

static void check_question(const struct dns_query *q, const uint8_t *data, size_t size)
{
	ns_msg message;
	ns_rr record;
	must(ns_initparse(data, (int)size, &message) == 0);
	must(ns_parserr(&message, ns_s_qd, 0, &record) == 0);
	must(ns_rr_type(record) == q->type && ns_rr_class(record) == ns_c_in);
	must(!q->is_host || strcasecmp(ns_rr_name(record), q->name.text) == 0);
}

static void check_reply(const struct dns_query *q, enum dns_rcode rcode, const unsigned char *address)
{
	unsigned char out[DNS_REPLY_BYTES_MAX];
	struct dns_query back;
	ns_msg message;
	ns_rr record;
	size_t len = dns_write_reply(out, q, rcode, address);
	must(len >= 12 && len <= sizeof(out));
	must(ns_initparse(out, (int)len, &message) == 0);
	must(ns_msg_id(message) == q->id && ns_msg_getflag(message, ns_f_qr) == 1);
	for (int s = ns_s_qd; s < ns_s_max; s++) {
		for (int i = 0; i < ns_msg_count(message, s); i++)
			must(ns_parserr(&message, (ns_sect)s, i, &record) == 0);
	}
	must(dns_read_query(&back, out, len) == DNS_DROP);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned char address[4] = {198, 18, 0, 1};
	struct dns_query q;
	int frame = dns_tcp_frame(data, size);
	must(frame == -1 || frame == 0 || (frame >= 14 && (size_t)frame <= size));
	enum dns_verdict v = dns_read_query(&q, data, size);
	if (v == DNS_DROP)
		return 0;
	must((v == DNS_REJECT) == (q.rcode != DNS_NOERROR));
	if (q.wire_len > 0)
		check_name(&q);
	if (v == DNS_QUESTION) {
		check_question(&q, data, size);
		check_reply(&q, DNS_NOERROR, address);
	}
	check_reply(&q, DNS_NOERROR, NULL);
	check_reply(&q, DNS_NXDOMAIN, NULL);
	check_reply(&q, v == DNS_REJECT ? q.rcode : DNS_SERVFAIL, NULL);
	return 0;
}
