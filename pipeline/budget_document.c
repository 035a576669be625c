/* The budget file as text: see docs/budget.md and docs/budget.schema.json. */
#include "pipeline/budget.h"

#include "spec/writer.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SCHEMA "pinfold.budget/1"

const char *const budget_quantity_names[BUDGET_QUANTITIES] = {
	[BUDGET_CPU] = "cpu_usec",	     [BUDGET_WALL] = "wall_usec",
	[BUDGET_MEMORY] = "memory_mib_usec", [BUDGET_RUNS] = "runs",
	[BUDGET_MONEY] = "money_micro",
};

const char *const budget_price_names[BUDGET_PRICES] = {
	[PRICE_CPU_HOUR] = "cpu_hour",
	[PRICE_WALL_HOUR] = "wall_hour",
	[PRICE_MEMORY_GIB_HOUR] = "memory_gib_hour",
	[PRICE_RUN] = "run",
};

const char *const budget_option_names[BUDGET_QUANTITIES] = {
	[BUDGET_CPU] = "cpu-time", [BUDGET_WALL] = "wall",   [BUDGET_MEMORY] = "memory-hours",
	[BUDGET_RUNS] = "runs",	   [BUDGET_MONEY] = "money",
};

/* ---- for people ---- */

/* Millionths as a decimal number without needless zeros. */
static void say_micro(uint64_t micro, const char *unit, char text[BUDGET_TEXT_BYTES])
{
	char decimals[16];
	size_t len = 7;
	snprintf(decimals, sizeof(decimals), ".%06u", (unsigned)(micro % 1000000));
	while (len > 0 && (decimals[len - 1] == '0' || len == 1))
		len--;
	snprintf(text, BUDGET_TEXT_BYTES, "%llu%.*s%s", (unsigned long long)(micro / 1000000),
		 (int)len, decimals, unit);
}

static void say_time(uint64_t usec, char text[BUDGET_TEXT_BYTES])
{
	const uint64_t minute = 60000000, hour = 60 * minute;
	if (usec && usec % hour == 0)
		snprintf(text, BUDGET_TEXT_BYTES, "%lluh", (unsigned long long)(usec / hour));
	else if (usec && usec % minute == 0)
		snprintf(text, BUDGET_TEXT_BYTES, "%llum", (unsigned long long)(usec / minute));
	else
		say_micro(usec, "s", text);
}

/* So much for an hour; thousandths of a unit, rounded up. */
static void say_memory(uint64_t mib_usec, char text[BUDGET_TEXT_BYTES])
{
	static const char units[] = "TGMK";
	const uint64_t hour = UINT64_C(3600000000);
	const unsigned __int128 product = (unsigned __int128)mib_usec << 20;
	const uint64_t bytes = (uint64_t)((product + hour - 1) / hour);
	int shift = 40;
	while (shift > 0 && bytes >> shift == 0)
		shift -= 10;
	if (shift == 0) {
		snprintf(text, BUDGET_TEXT_BYTES, "%llu", (unsigned long long)bytes);
		return;
	}
	const uint64_t part = bytes & ((UINT64_C(1) << shift) - 1);
	const uint64_t milli = (bytes >> shift) * 1000 +
			       (part * 1000 + (UINT64_C(1) << shift) - 1) / (UINT64_C(1) << shift);
	const char unit[] = {units[(40 - shift) / 10], '\0'};
	say_micro(milli * 1000, unit, text);
}

void budget_say(enum budget_quantity q, uint64_t amount, char text[BUDGET_TEXT_BYTES])
{
	if (amount == BUDGET_UNKNOWN)
		snprintf(text, BUDGET_TEXT_BYTES, "-");
	else if (q == BUDGET_CPU || q == BUDGET_WALL)
		say_time(amount, text);
	else if (q == BUDGET_MEMORY)
		say_memory(amount, text);
	else if (q == BUDGET_MONEY)
		say_micro(amount, "", text);
	else
		snprintf(text, BUDGET_TEXT_BYTES, "%llu", (unsigned long long)amount);
}

/* ---- reading ---- */

struct reading {
	const char *name;
	struct err *e;
};

static int wrong(const struct reading *r, const char *where, const char *what)
{
	return err_usage(r->e, "%s: %s: %s", r->name, where, what);
}

/* The only members it may have. */
static int check_members(const struct reading *r, const char *where, json_t *object,
			 const char *const *names, size_t len)
{
	const char *key;
	json_t *value;
	if (!json_is_object(object))
		return wrong(r, where, "an object is wanted");
	json_object_foreach(object, key, value)
	{
		size_t i = 0;
		while (i < len && strcmp(names[i], key) != 0)
			i++;
		if (i == len)
			return wrong(r, where, "has a member that nobody knows");
	}
	return 0;
}

static int read_number(const struct reading *r, const char *where, const json_t *value, uint64_t *to)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return wrong(r, where, "a whole number from 0 to 2^63-1 is wanted");
	*to = (uint64_t)json_integer_value(value);
	return 0;
}

/* Members that are not there stay what they are; null is none, where that is allowed. */
static int read_numbers(const struct reading *r, const char *where, json_t *object,
			const char *const *names, uint64_t *to)
{
	const bool limits = names == budget_quantity_names && strcmp(where, "limits") == 0;
	const size_t len = names == budget_price_names ? BUDGET_PRICES : BUDGET_QUANTITIES;
	if (check_members(r, where, object, names, len) < 0)
		return -1;
	for (size_t i = 0; i < len; i++) {
		const json_t *value = json_object_get(object, names[i]);
		if (!value || (limits && json_is_null(value)))
			continue;
		if (read_number(r, names[i], value, &to[i]) < 0)
			return -1;
	}
	return 0;
}

/* Sixteen digits of base 16, lower case. */
static int read_id(const struct reading *r, const json_t *value, uint64_t *to)
{
	static const char digits[] = "0123456789abcdef";
	const char *text = json_string_value(value);
	if (!text || json_string_length(value) != 16 || strspn(text, digits) != 16)
		return wrong(r, "id", "sixteen hexadecimal digits are wanted");
	*to = 0;
	for (; *text; text++)
		*to = *to << 4 | (uint64_t)(strchr(digits, *text) - digits);
	return *to ? 0 : wrong(r, "id", "is 0");
}

static int read_hold(const struct reading *r, json_t *object, struct budget_hold *to)
{
	static const char *const names[] = {"id", "entry", "pid", "since", "amount"};
	uint64_t entry = 0, pid = 0;
	*to = (struct budget_hold){0};
	if (check_members(r, "reserved", object, names, sizeof(names) / sizeof(*names)) < 0 ||
	    read_id(r, json_object_get(object, "id"), &to->id) < 0 ||
	    read_number(r, "entry", json_object_get(object, "entry"), &entry) < 0 ||
	    read_number(r, "pid", json_object_get(object, "pid"), &pid) < 0 ||
	    read_number(r, "since", json_object_get(object, "since"), &to->since) < 0)
		return -1;
	if (entry < 1 || entry > BUDGET_HOLDS_MAX || pid > INT32_MAX)
		return wrong(r, "reserved", "entry or pid is out of range");
	to->entry = (uint32_t)entry;
	to->pid = (int32_t)pid;
	return read_numbers(r, "amount", json_object_get(object, "amount"), budget_quantity_names,
			    to->amount.of);
}

static bool is_new(const struct budget_state *s, const struct budget_hold *hold)
{
	for (size_t i = 0; i < s->holds_len; i++)
		if (s->holds[i].id == hold->id || s->holds[i].entry == hold->entry)
			return false;
	return true;
}

static int read_holds(const struct reading *r, json_t *array, struct budget_state *s)
{
	size_t i;
	json_t *value;
	if (!json_is_array(array) || json_array_size(array) > BUDGET_HOLDS_MAX)
		return wrong(r, "reserved", "an array of at most 256 is wanted");
	json_array_foreach(array, i, value)
	{
		struct budget_hold hold;
		if (read_hold(r, value, &hold) < 0)
			return -1;
		if (!is_new(s, &hold))
			return wrong(r, "reserved", "an id or an entry stands twice");
		s->holds[s->holds_len++] = hold;
	}
	return 0;
}

static int read_state(const struct reading *r, json_t *top, struct budget_state *s)
{
	static const char *const names[] = {"schema",  "limits",    "prices",  "spent",
					    "settled", "abandoned", "reserved"};
	if (check_members(r, "the document", top, names, sizeof(names) / sizeof(*names)) < 0)
		return -1;
	const char *schema = json_string_value(json_object_get(top, "schema"));
	if (!schema || strcmp(schema, SCHEMA) != 0)
		return wrong(r, "schema", "\"" SCHEMA "\" is wanted");
	json_t *prices = json_object_get(top, "prices"), *spent = json_object_get(top, "spent");
	json_t *settled = json_object_get(top, "settled"), *holds = json_object_get(top, "reserved");
	json_t *abandoned = json_object_get(top, "abandoned");
	if (read_numbers(r, "limits", json_object_get(top, "limits"), budget_quantity_names,
			 s->limit) < 0)
		return -1;
	if ((prices && read_numbers(r, "prices", prices, budget_price_names, s->price) < 0) ||
	    (spent && read_numbers(r, "spent", spent, budget_quantity_names, s->spent.of) < 0) ||
	    (settled && read_number(r, "settled", settled, &s->settled) < 0) ||
	    (abandoned && read_number(r, "abandoned", abandoned, &s->abandoned) < 0))
		return -1;
	return holds ? read_holds(r, holds, s) : 0;
}

/* The parser's words quote the text, whose bytes may be any. */
static int refuse_text(const struct reading *r, const json_error_t *error)
{
	char text[JSON_ERROR_TEXT_LENGTH];
	size_t len = 0;
	for (; error->text[len] && len + 1 < sizeof(text); len++)
		text[len] = error->text[len] >= 0x20 && error->text[len] < 0x7f ? error->text[len]
										: '?';
	text[len] = '\0';
	return err_usage(r->e, "%s:%d:%d: %s", r->name, error->line, error->column, text);
}

int budget_parse(struct budget_state *to, const char *name, const char *bytes, size_t len,
		 struct err *e)
{
	const struct reading r = {name, e};
	struct budget_state s = {0};
	json_error_t error;
	if (len > BUDGET_BYTES_MAX)
		return err_usage(e, "%s: is longer than %d bytes", name, BUDGET_BYTES_MAX);
	for (int i = 0; i < BUDGET_QUANTITIES; i++)
		s.limit[i] = BUDGET_NONE;
	json_t *top = json_loadb(bytes, len, JSON_REJECT_DUPLICATES, &error);
	if (!top)
		return refuse_text(&r, &error);
	const int read = read_state(&r, top, &s);
	json_decref(top);
	if (read < 0)
		return -1;
	*to = s;
	return 0;
}

/* ---- writing ---- */

static void write_numbers(struct json_writer *w, const char *key, const char *const *names,
			  const uint64_t *numbers, size_t len)
{
	json_begin(w, key, '{');
	for (size_t i = 0; i < len; i++)
		if (numbers[i] == BUDGET_NONE)
			json_null_value(w, names[i]);
		else
			json_number(w, names[i], (int64_t)numbers[i]);
	json_end(w, '{');
}

static void write_hold(struct json_writer *w, const struct budget_hold *hold)
{
	char id[17];
	snprintf(id, sizeof(id), "%016llx", (unsigned long long)hold->id);
	json_begin(w, NULL, '{');
	json_text(w, "id", id);
	json_number(w, "entry", hold->entry);
	json_number(w, "pid", hold->pid);
	json_number(w, "since", (int64_t)hold->since);
	write_numbers(w, "amount", budget_quantity_names, hold->amount.of, BUDGET_QUANTITIES);
	json_end(w, '{');
}

char *budget_format(const struct budget_state *s)
{
	struct json_writer w;
	json_open(&w, true);
	json_begin(&w, NULL, '{');
	json_text(&w, "schema", SCHEMA);
	write_numbers(&w, "limits", budget_quantity_names, s->limit, BUDGET_QUANTITIES);
	write_numbers(&w, "prices", budget_price_names, s->price, BUDGET_PRICES);
	write_numbers(&w, "spent", budget_quantity_names, s->spent.of, BUDGET_QUANTITIES);
	json_number(&w, "settled", (int64_t)s->settled);
	json_number(&w, "abandoned", (int64_t)s->abandoned);
	json_begin(&w, "reserved", '[');
	for (size_t i = 0; i < s->holds_len; i++)
		write_hold(&w, &s->holds[i]);
	json_end(&w, '[');
	json_end(&w, '{');
	return json_finish(&w, true);
}

/* ---- sums ---- */

uint64_t budget_used(const struct budget_state *s, enum budget_quantity q)
{
	unsigned __int128 sum = s->spent.of[q];
	for (size_t i = 0; i < s->holds_len; i++)
		sum += s->holds[i].amount.of[q];
	return sum <= BUDGET_MOST ? (uint64_t)sum : BUDGET_UNKNOWN;
}

/* amount * price / per, rounded up; amounts and prices are below 2^63. */
static unsigned __int128 price_of(uint64_t amount, uint64_t price, uint64_t per)
{
	const unsigned __int128 product = (unsigned __int128)amount * price;
	return product / per + (product % per != 0);
}

uint64_t budget_money(const struct budget_state *s, const struct budget_amount *a)
{
	static const struct {
		enum budget_quantity quantity;
		uint64_t per;
	} rows[BUDGET_PRICES] = {
		[PRICE_CPU_HOUR] = {BUDGET_CPU, UINT64_C(3600000000)},
		[PRICE_WALL_HOUR] = {BUDGET_WALL, UINT64_C(3600000000)},
		[PRICE_MEMORY_GIB_HOUR] = {BUDGET_MEMORY, UINT64_C(3600000000) * 1024},
		[PRICE_RUN] = {BUDGET_RUNS, 1},
	};
	unsigned __int128 sum = 0;
	for (int i = 0; i < BUDGET_PRICES; i++) {
		const uint64_t amount = a->of[rows[i].quantity];
		if (s->price[i] == 0)
			continue;
		if (amount > BUDGET_MOST)
			return BUDGET_UNKNOWN;
		const unsigned __int128 part = price_of(amount, s->price[i], rows[i].per);
		/* Four parts of at most 2^126: the sum has to stay below. */
		if (part > BUDGET_MOST)
			return BUDGET_UNKNOWN;
		sum += part;
	}
	return sum <= BUDGET_MOST ? (uint64_t)sum : BUDGET_UNKNOWN;
}

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;
	if (a > BUDGET_MOST || b > BUDGET_MOST || __builtin_mul_overflow(a, b, &product) ||
	    product > BUDGET_MOST)
		return BUDGET_UNKNOWN;
	return product;
}

struct budget_amount budget_amount_of(uint64_t wall_usec, uint64_t cpu_usec, uint64_t memory_bytes,
				      uint64_t runs)
{
	const uint64_t mib = memory_bytes == BUDGET_UNKNOWN
				     ? BUDGET_UNKNOWN
				     : (memory_bytes >> 20) + ((memory_bytes & 0xfffff) != 0);
	return (struct budget_amount){{
		[BUDGET_CPU] = times(cpu_usec, runs),
		[BUDGET_WALL] = times(wall_usec, runs),
		[BUDGET_MEMORY] = times(times(mib, wall_usec), runs),
		[BUDGET_RUNS] = runs,
	}};
}
