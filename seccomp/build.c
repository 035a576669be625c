#include "seccomp/filter_data.h"
#include "seccomp/profile.h"
#include "seccomp/seccomp.h"

static const struct filter_variant *variant_find(uint32_t arch, enum policy_switch on)
{
	for (size_t i = 0; i < filter_variants_len; i++) {
		if (filter_variants[i].arch == arch && filter_variants[i].on == on)
			return &filter_variants[i];
	}
	return NULL;
}

int filter_build(struct filter *f, const struct filter_options *o, struct arena *a,
		 struct result *r, struct err *e)
{
	if (o->profile)
		return profile_build(f, o, a, r, e);
	unsigned int on = (o->pipe_size ? WHEN_PIPE_SIZE : 0) | (o->affinity ? WHEN_AFFINITY : 0);
	const struct filter_variant *v = variant_find(o->arch ? o->arch : filter_native_arch, on);
	if (!v)
		return err_host(e, "there is no system call filter for %s", arch_name(o->arch));
	*f = (struct filter){
		.insns = v->counting.insns,
		.len = v->counting.len,
		.notify = true,
		.quiet = v->quiet.insns,
		.quiet_len = v->quiet.len,
	};
	return 0;
}
