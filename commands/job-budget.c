/* pinfold job budget: make a budget that jobs share, and tell what is left of it. */
#include "commands/job.h"
#include "pipeline/budget.h"
#include "spec/parse.h"
#include "spec/spec.h"

#include <stdio.h>
#include <stdlib.h>

struct asked {
	const char *limit[BUDGET_QUANTITIES], *price[BUDGET_PRICES];
	bool create, json;
};

/* "12.5" as millionths. */
static int parse_micro(const char *option, const char *text, uint64_t *to, struct err *e)
{
	uint64_t value = 0;
	int decimals = -1;
	const char *at = text;
	for (; *at; at++) {
		if (*at == '.' && decimals < 0) {
			decimals = 0;
			continue;
		}
		if (*at < '0' || *at > '9' || decimals == 6 || value > BUDGET_MOST / 100)
			break;
		value = value * 10 + (uint64_t)(*at - '0');
		decimals += decimals >= 0;
	}
	for (int more = decimals < 0 ? 0 : decimals; more < 6 && value <= BUDGET_MOST / 10; more++)
		value *= 10;
	if (*at || at == text || decimals == 0 || *text == '.' || value > BUDGET_MOST / 10)
		return err_usage(e, "--%s: \"%.40s\" is no amount; one is like 12 or 0.04", option,
				 text);
	*to = value;
	return 0;
}

static int read_limits(const struct asked *a, uint64_t limit[BUDGET_QUANTITIES], struct err *e)
{
	bool any = false;
	for (int q = 0; q < BUDGET_QUANTITIES; q++) {
		limit[q] = BUDGET_NONE;
		any |= a->limit[q] != NULL;
	}
	if (!any)
		return err_usage(e, "--create: name one limit at least: --cpu-time, --wall, --memory-hours, "
				    "--runs or --money");
	for (int q = 0; q < BUDGET_MEMORY; q++) {
		if (!a->limit[q])
			continue;
		if (spec_parse_time(a->limit[q], &limit[q], e) < 0)
			return -1;
		if (limit[q] != BUDGET_NONE)
			limit[q] /= 1000;
	}
	if (a->limit[BUDGET_MEMORY]) {
		uint64_t bytes;
		if (spec_parse_size(a->limit[BUDGET_MEMORY], &bytes, e) < 0)
			return -1;
		/* So much for an hour. */
		const unsigned __int128 mib_usec = (unsigned __int128)bytes * UINT64_C(3600000000) >>
						   20;
		if (bytes != LIMIT_NONE)
			limit[BUDGET_MEMORY] = mib_usec < BUDGET_MOST ? (uint64_t)mib_usec
								      : BUDGET_MOST + 1;
	}
	if (a->limit[BUDGET_RUNS] &&
	    spec_parse_count(a->limit[BUDGET_RUNS], &limit[BUDGET_RUNS], e) < 0)
		return -1;
	if (a->limit[BUDGET_MONEY] &&
	    parse_micro("money", a->limit[BUDGET_MONEY], &limit[BUDGET_MONEY], e) < 0)
		return -1;
	for (int q = 0; q < BUDGET_QUANTITIES; q++)
		if (limit[q] != BUDGET_NONE && limit[q] > BUDGET_MOST)
			return err_usage(e, "--%s: is more than can be counted",
					 budget_option_names[q]);
	return 0;
}

static int create(const struct asked *a, const char *path, struct err *e)
{
	static const char *const options[BUDGET_PRICES] = {"price-cpu-hour", "price-hour",
							   "price-memory-hour", "price-run"};
	uint64_t limit[BUDGET_QUANTITIES], price[BUDGET_PRICES] = {0};
	if (read_limits(a, limit, e) < 0)
		return -1;
	for (int i = 0; i < BUDGET_PRICES; i++)
		if (a->price[i] && parse_micro(options[i], a->price[i], &price[i], e) < 0)
			return -1;
	return budget_create(path, limit, price, e);
}

static void print_amount(enum budget_quantity q, uint64_t amount)
{
	char text[BUDGET_TEXT_BYTES];
	budget_say(q, amount, text);
	printf(" %14s", text);
}

static void print_state(const struct budget_state *s)
{
	printf("%-12s %14s %14s %14s %14s\n", "", "limit", "spent", "reserved", "left");
	for (enum budget_quantity q = 0; q < BUDGET_QUANTITIES; q++) {
		const uint64_t used = budget_used(s, q), limit = s->limit[q];
		const uint64_t spent = s->spent.of[q];
		printf("%-12s", budget_option_names[q]);
		print_amount(q, limit);
		print_amount(q, spent);
		print_amount(q, used == BUDGET_UNKNOWN ? used : used - spent);
		print_amount(q, limit == BUDGET_NONE ? limit : used > limit ? 0 : limit - used);
		printf("\n");
	}
	printf("%llu settled, %llu abandoned, %zu reserved now\n", (unsigned long long)s->settled,
	       (unsigned long long)s->abandoned, s->holds_len);
}

static int tell(const struct asked *a, const char *path, struct err *e)
{
	autobudget b = BUDGET_INIT;
	struct budget_state s;
	if (budget_open(&b, path, e) < 0 || budget_look(&b, &s, e) < 0)
		return -1;
	if (!a->json) {
		print_state(&s);
		return 0;
	}
	char *text = budget_format(&s);
	if (!text)
		return err_host(e, "out of memory");
	fputs(text, stdout);
	free(text);
	return 0;
}

int job_budget_verb(struct job_call *c, struct err *e)
{
	struct asked a = {0};
	const struct verb_option rows[] = {
		{"json", NULL, &a.json, "the document, those whose holder died counted as spent"},
		{"create", NULL, &a.create, "make FILE, with these limits and prices"},
		{"cpu-time", &a.limit[BUDGET_CPU], NULL, "TIME  processor time, together"},
		{"wall", &a.limit[BUDGET_WALL], NULL, "TIME  time that passes, together"},
		{"memory-hours", &a.limit[BUDGET_MEMORY], NULL, "SIZE  memory, as much for an hour"},
		{"runs", &a.limit[BUDGET_RUNS], NULL, "N  full configurations"},
		{"money", &a.limit[BUDGET_MONEY], NULL, "AMOUNT  in the unit of the prices"},
		{"price-cpu-hour", &a.price[PRICE_CPU_HOUR], NULL,
		 "AMOUNT  of an hour of one processor"},
		{"price-hour", &a.price[PRICE_WALL_HOUR], NULL, "AMOUNT  of an hour that passes"},
		{"price-memory-hour", &a.price[PRICE_MEMORY_GIB_HOUR], NULL,
		 "AMOUNT  of an hour of a gibibyte"},
		{"price-run", &a.price[PRICE_RUN], NULL, "AMOUNT  of a run"},
		{NULL},
	};
	const int words = job_words(c, rows, (struct word_count){1, 1}, e);
	if (words != 0)
		return words < 0 ? -1 : 0;
	if (a.create)
		return create(&a, c->argv[0], e);
	for (int q = 0; q < BUDGET_QUANTITIES; q++)
		if (a.limit[q] || (q < BUDGET_PRICES && a.price[q]))
			return err_usage(e, "limits and prices are given with --create");
	return tell(&a, c->argv[0], e);
}
