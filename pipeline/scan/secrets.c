/* Credentials in the tree: by the shapes that their makers gave them, and by the names of files. */
#include "pipeline/scan/reader.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

enum body { BODY_UPPER, BODY_ALNUM, BODY_WORD };

static const struct shape {
	const char *prefix, *what;
	enum body body;
	size_t least, most; /* characters behind the prefix */
} shapes[] = {
	{"AKIA", "AWS access key", BODY_UPPER, 16, 16},
	{"ASIA", "AWS access key", BODY_UPPER, 16, 16},
	{"ghp_", "GitHub token", BODY_ALNUM, 36, 251},
	{"gho_", "GitHub token", BODY_ALNUM, 36, 251},
	{"ghs_", "GitHub token", BODY_ALNUM, 36, 251},
	{"ghu_", "GitHub token", BODY_ALNUM, 36, 251},
	{"github_pat_", "GitHub token", BODY_WORD, 50, 251},
	{"glpat-", "GitLab token", BODY_WORD, 20, 64},
	{"xoxb-", "Slack token", BODY_WORD, 24, 128},
	{"xoxp-", "Slack token", BODY_WORD, 24, 128},
	{"sk_live_", "Stripe key", BODY_ALNUM, 20, 128},
	{"rk_live_", "Stripe key", BODY_ALNUM, 20, 128},
	{"AIza", "Google API key", BODY_WORD, 35, 35},
	{"npm_", "npm token", BODY_ALNUM, 36, 36},
	{"pypi-AgEI", "PyPI token", BODY_WORD, 40, 256},
	{"hf_", "Hugging Face token", BODY_ALNUM, 34, 40},
	{"sk-ant-", "Anthropic key", BODY_WORD, 40, 160},
};

static bool in_body(char c, enum body b)
{
	if (b == BODY_UPPER)
		return isupper((unsigned char)c) || isdigit((unsigned char)c);
	return isalnum((unsigned char)c) || (b == BODY_WORD && (c == '_' || c == '-'));
}

/* "xxxxxxxx", "EXAMPLE", "<your token>": who writes documentation has no secret to lose. */
static bool is_placeholder(const char *text, size_t len)
{
	bool seen[256] = {false};
	size_t distinct = 0;
	for (size_t i = 0; i < len; i++) {
		distinct += !seen[(unsigned char)text[i]];
		seen[(unsigned char)text[i]] = true;
	}
	return distinct < 8 || memmem(text, len, "EXAMPLE", 7) || memmem(text, len, "example", 7) ||
	       memmem(text, len, "XXXX", 4) || memmem(text, len, "xxxx", 4);
}

static void find_shape(struct reader *r, const struct unit *u, const struct shape *s)
{
	const size_t prefix = strlen(s->prefix);
	const char *end = u->text + u->len;
	for (const char *at = u->text; (at = memmem(at, (size_t)(end - at), s->prefix, prefix));
	     at++) {
		const char *body = at + prefix;
		size_t len = 0;
		while (body + len < end && len <= s->most && in_body(body[len], s->body))
			len++;
		const bool alone = (at == u->text || !is_word(at[-1])) &&
				   (body + len == end || !is_word(body[len]));
		if (len < s->least || len > s->most || !alone || is_placeholder(body, len))
			continue;
		const size_t from = (size_t)(at - u->text);
		reader_tell(r, RULE_CREDENTIAL, u, (struct place){from, from + prefix + len},
			    s->what);
	}
}

/* "-----BEGIN X PRIVATE KEY-----", and behind it what could be one: programs name the line as well. */
static void find_private_keys(struct reader *r, const struct unit *u)
{
	static const char begin[] = "-----BEGIN ", kind[] = "PRIVATE KEY-----";
	const char *end = u->text + u->len;
	for (const char *at = u->text;
	     (at = memmem(at, (size_t)(end - at), begin, sizeof(begin) - 1)); at++) {
		const size_t near = end - at < 64 ? (size_t)(end - at) : 64;
		const char *mark = memmem(at, near, kind, sizeof(kind) - 1);
		if (!mark)
			continue;
		size_t len = 0;
		const char *c = mark + sizeof(kind) - 1;
		/* A line end, also one that is written as an escape; quotes and blanks of a program; headers. */
		while (c < end && (strchr("\r\n\\ \t\"'+,", *c) || (*c == 'n' && c[-1] == '\\')) && *c)
			c++;
		while (c + len < end &&
		       (isalnum((unsigned char)c[len]) || strchr("+/=:-, ", c[len])) && c[len])
			len++;
		if (len < 40 || is_placeholder(c, len))
			continue;
		const size_t from = (size_t)(at - u->text);
		reader_tell(r, RULE_CREDENTIAL, u,
			    (struct place){from, from + (size_t)(mark - at) + sizeof(kind) - 1},
			    "private key");
	}
}

static const struct {
	const char *name, *folder, *content; /* NULL: any */
} files[] = {
	{"id_rsa", NULL, NULL},
	{"id_dsa", NULL, NULL},
	{"id_ecdsa", NULL, NULL},
	{"id_ed25519", NULL, NULL},
	{".netrc", NULL, "password"},
	{"_netrc", NULL, "password"},
	{".git-credentials", NULL, "://"},
	{".pypirc", NULL, "password"},
	{".npmrc", NULL, "_authToken="},
	{".npmrc", NULL, "_password="},
	{".pgpass", NULL, ":"},
	{"credentials", ".aws", "aws_secret_access_key"},
	{"config.json", ".docker", "\"auth\""},
	{"config", ".kube", "client-key-data"},
	{".htpasswd", NULL, ":"},
};

static void find_files(struct reader *r, const struct unit *u)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (strcmp(u->name, files[i].name) != 0 ||
		    (files[i].folder && strcmp(u->folder, files[i].folder) != 0))
			continue;
		if (files[i].content &&
		    !memmem(u->text, u->len, files[i].content, strlen(files[i].content)))
			continue;
		reader_tell(r, RULE_CREDENTIAL_FILE, u, WHOLE, files[i].name);
		return;
	}
}

/* NAME=value lines of a .env whose name says that it is a secret, and whose value is one. */
static void find_environment(struct reader *r, const struct unit *u)
{
	static const char *const words[] = {"SECRET", "TOKEN",	 "PASSWORD",
					    "PASSWD", "API_KEY", "PRIVATE"};
	if (strcmp(u->name, ".env") != 0 && strncmp(u->name, ".env.", 5) != 0)
		return;
	for (size_t at = 0; at < u->len;) {
		const char *line = u->text + at;
		const size_t len = strcspn(line, "\n"), name = strcspn(line, "=\n");
		bool secret = false;
		for (size_t i = 0; i < sizeof(words) / sizeof(*words) && *line != '#'; i++)
			secret = secret || memmem(line, name, words[i], strlen(words[i]));
		const char *value = line + name + 1;
		if (secret && len > name + 8 && !is_placeholder(value, len - name - 1) &&
		    !memchr(value, '<', len - name - 1) && !memchr(value, '$', len - name - 1))
			reader_tell(r, RULE_CREDENTIAL, u, (struct place){at, at + name},
				    "in a .env file");
		at += len + 1;
	}
}

void secrets_read(struct reader *r, const struct unit *u)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		find_shape(r, u, &shapes[i]);
	find_private_keys(r, u);
	find_files(r, u);
	find_environment(r, u);
}
