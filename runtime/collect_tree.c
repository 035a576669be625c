/* A tree out of the scratch, record by record. None is believed; see transfer/tree_store.h. */
#include "runtime/intake.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { NAME_SHOWN = 81 }; /* of a name in a warning */

/* A name of its own: no file's has a + in front. */
static void tree_name(char name[STORE_NAME_BYTES], const char *path)
{
	char rooted[COLLECT_PATH_MAX + 2];
	snprintf(rooted, sizeof(rooted), "/%s", path);
	store_name(name, rooted);
}

static bool good(const struct intake *in)
{
	return in->failed.kind == ERR_NONE;
}

/* Counts an entry and its bytes against the rule and all artifacts. */
static bool spend(struct intake *in, uint64_t bytes)
{
	const struct artifact_rule *rule = intake_rule(in);
	if (in->tree_entries == rule->max_files || bytes > rule->max_bytes - in->tree_bytes ||
	    bytes > COLLECT_BYTES_MAX - in->total)
		return false;
	in->tree_entries++;
	in->tree_bytes += bytes;
	in->total += bytes;
	return true;
}

static void file_begin(struct intake *in, uint64_t size, bool *within)
{
	in->at = 0;
	in->row.size = (int64_t)size;
	hashing_begin_awaited(&in->hashing, size);
	*within = true;
}

static bool on_tree(struct intake *in, const struct collect_record *c, bool *within)
{
	const bool folder = S_ISDIR(c->mode);
	if (in->in_tree || c->path_len == 0 || intake_rule(in)->type != ARTIFACT_TREE ||
	    (!folder && !S_ISREG(c->mode)) || (folder && c->size > 0) ||
	    in->files++ == COLLECT_FILES_MAX)
		return false;
	in->tree_bytes = in->tree_entries = 0;
	in->omitted = 0;
	if (!spend(in, c->size))
		return false;
	intake_note_stored(in, 0);
	in->row = intake_row(in, 0);
	in->failed = (struct err)ERR_INIT;
	in->in_tree = true;
	in->tree_folder = folder;
	in->tree = (struct tree_store)TREE_STORE_INIT;
	tree_name(in->row.file, in->path);
	if (intake_reserved(in, in->row.file))
		err_usage(&in->failed, "a document of this run has that name");
	else
		tree_store_begin(&in->tree, in->run->plan.artifacts.dir, in->files, c->mode,
				 &in->failed);
	if (!folder)
		file_begin(in, c->size, within);
	return true;
}

static void on_omit(struct intake *in, const char *name, enum collect_reason reason)
{
	char shown[NAME_SHOWN];
	text_fit(shown, sizeof(shown), name);
	if (in->omitted++ == 0)
		snprintf(in->first_omitted, sizeof(in->first_omitted), "%s: %s", shown,
			 collect_reasons[reason]);
}

static bool on_entry(struct intake *in, const struct collect_record *c, const char *name, bool *within)
{
	const bool file = c->type == COLLECT_TREE_FILE;
	if (!in->tree_folder || (!file && c->size > 0) || !spend(in, c->size))
		return false;
	if (c->type == COLLECT_TREE_OMIT) {
		if (c->reason < REASON_COUNT)
			on_omit(in, name, (enum collect_reason)c->reason);
		return c->reason < REASON_COUNT;
	}
	if (good(in) && file)
		tree_store_file(&in->tree, name, (mode_t)c->mode, &in->failed);
	else if (good(in))
		tree_store_folder(&in->tree, name, (mode_t)c->mode, &in->failed);
	if (file)
		file_begin(in, c->size, within);
	return true;
}

static bool on_link(struct intake *in, const struct collect_record *c, const char *name)
{
	char target[COLLECT_PATH_MAX + 1];
	if (!in->tree_folder || c->text_len == 0 || c->text_len > COLLECT_PATH_MAX ||
	    !intake_take(in, target, c->text_len) || !spend(in, 0))
		return false;
	target[c->text_len] = '\0';
	if (good(in))
		tree_store_link(&in->tree, name, target, &in->failed);
	return true;
}

static void finish(struct intake *in)
{
	char shown[NAME_SHOWN];
	in->row.size = (int64_t)in->tree_bytes;
	intake_judge(in, good(in) && tree_store_publish(&in->tree, in->row.file, in->row.sha256,
							&in->failed) == 0);
	tree_store_drop(&in->tree);
	in->in_tree = false;
	text_fit(shown, sizeof(shown), in->path);
	if (in->omitted)
		result_warn(in->run->r, "%u entries are not part of the tree %s; the first is %s",
			    in->omitted, shown, in->first_omitted);
	intake_note(in, &in->row, in->rule);
}

static bool on_tree_end(struct intake *in, const struct collect_record *c)
{
	if (c->reason > REASON_COUNT)
		return false;
	if (c->reason < REASON_COUNT && good(in))
		err_host(&in->failed, "%s", collect_reasons[c->reason]);
	finish(in);
	return true;
}

bool intake_tree_record(struct intake *in, const struct collect_record *c, bool *within)
{
	char name[COLLECT_NAME_MAX + 1];
	if (c->type == COLLECT_TREE)
		return on_tree(in, c, within);
	if (c->path_len > COLLECT_NAME_MAX || !intake_take(in, name, c->path_len))
		return false;
	name[c->path_len] = '\0';
	if (strlen(name) != c->path_len)
		return false;
	switch ((enum collect_type)c->type) {
	case COLLECT_TREE_FOLDER:
	case COLLECT_TREE_FILE:
	case COLLECT_TREE_OMIT:
		return on_entry(in, c, name, within);
	case COLLECT_TREE_LINK:
		return on_link(in, c, name);
	case COLLECT_TREE_LEAVE:
		if (good(in))
			tree_store_leave(&in->tree, &in->failed);
		return true;
	case COLLECT_TREE_END:
		return on_tree_end(in, c);
	default:
		return false;
	}
}

void intake_tree_file_end(struct intake *in)
{
	const uint64_t size = good(in) ? (uint64_t)in->row.size : 0;
	char digest[65];
	hashing_end(&in->hashing, size);
	hashing_take(&in->hashing, digest); /* the digest of the tree has them in their order */
	if (good(in))
		tree_store_file_end(&in->tree, size, digest, &in->failed);
}

void intake_tree_cut(struct intake *in)
{
	if (good(in))
		err_host(&in->failed, "it was not read to its end");
	finish(in);
}
