#include "commands/images.h"

#include "commands/commands.h"
#include "runtime/sibling.h"
#include "spec/parse.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *images_store(struct arena *a)
{
	const char *told = getenv("PINFOLD_STORE"), *base = getenv("XDG_DATA_HOME");
	const char *home = getenv("HOME");
	if (told && *told)
		return arena_strdup(a, told);
	if (geteuid() == 0)
		return "/var/lib/pinfold";
	if (base && *base == '/')
		return arena_printf(a, "%s/pinfold", base);
	return home && *home == '/' ? arena_printf(a, "%s/.local/share/pinfold", home) : NULL;
}

/* Whether a registry is named: its host has a dot or a port, or is localhost. */
static bool names_registry(const char *name)
{
	const size_t len = strcspn(name, "/");
	return name[len] == '/' && (memchr(name, '.', len) || memchr(name, ':', len) ||
				    (len == 9 && memcmp(name, "localhost", len) == 0));
}

static int refuse_missing(const char *name, struct err *e)
{
	if (names_registry(name))
		return err_usage(e,
				 "there is no stored image %.100s, and no folder of that name here; `pinfold "
				 "image pull %.100s` gets it, and so does --pull missing",
				 name, name);
	return err_usage(e,
			 "there is no stored image %.100s, and no folder of that name here; `pinfold image "
			 "pull HOST/%.100s` gets one from a registry, `pinfold image load FILE` from a file",
			 name, name);
}

/* Its progress is no output of the run's program. */
static int pull(const char *name, const char *libexec, struct arena *a, struct err *e)
{
	const char *path = arena_printf(a, "%s/pinfold-image", libexec);
	char *argv[] = {arena_strdup(a, "pinfold-image"), arena_strdup(a, "pull"),
			arena_strdup(a, "--"), arena_strdup(a, name), NULL};
	const int code = sibling_run(path, argv, STDERR_FILENO, e);
	if (code < 0 || code == 0)
		return code;
	if (code == 127)
		return err_host(e, "--pull missing: %s is not there", path);
	return err_host(e, "--pull missing: pulling %s failed; why is said above", show(name).text);
}

int images_resolve(struct spec *s, const char *libexec, struct stored *held, struct err *e)
{
	char id[STORED_ID_BYTES];
	struct stat st;
	if (s->image_kind != IMAGE_NAME)
		return 0;
	const char *store = images_store(s->arena);
	if (store && *store != '/')
		return err_usage(e, "image store: PINFOLD_STORE is %s, which is no absolute path",
				 show(store).text);
	const bool folder = stat(s->image, &st) == 0 && S_ISDIR(st.st_mode);
	struct err shut = ERR_INIT;
	if (store && stored_is_shut(store, &shut)) {
		if (!folder)
			*e = shut;
		return folder ? 0 : -1;
	}
	int found = store ? stored_find(store, s->image, id, e) : 0;
	if (found < 0)
		return -1;
	if (found && folder)
		return err_usage(e,
				 "image %s: there is a stored image and a folder of that name; ./%.100s "
				 "is the folder, and %s the image",
				 show(s->image).text, s->image, id);
	if (folder)
		return 0;
	if (!found && s->pull == PULL_MISSING && libexec && store && names_registry(s->image)) {
		if (pull(s->image, libexec, s->arena, e) < 0)
			return -1;
		found = stored_find(store, s->image, id, e);
	}
	if (found <= 0)
		return found < 0 ? -1 : refuse_missing(s->image, e);
	if (stored_open(held, store, id, s->arena, e) < 0)
		return -1;
	s->stored.tree = held->path;
	s->stored.digest = held->facts.id;
	return 0;
}

static int apply_user(struct spec *s, const struct stored *held, struct err *e)
{
	struct stored_user user;
	if (!*held->facts.user || spec_given(s, offsetof(struct spec, uid)))
		return 0;
	if (stored_user(held->root, held->facts.user, &user, s->arena, e) < 0)
		return -1;
	s->uid = user.uid;
	s->stored.has_gid = true;
	s->stored.gid = user.gid;
	s->stored.user = user.name;
	return 0;
}

int images_apply(struct spec *s, const struct stored *held, struct err *e)
{
	if (held->lock < 0)
		return 0;
	return spec_apply_image(s, &held->facts, e) < 0 ? -1 : apply_user(s, held, e);
}
