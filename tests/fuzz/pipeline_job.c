/* Any bytes as a job. Either they are refused, in words that a terminal may see and with a place,
 * or they make a job whose parts fit each other. */
#include "pipeline/job.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_refusal(const struct err *e)
{
	must(e->kind == ERR_USAGE);
	must(strncmp(e->msg, "fuzz:", 5) == 0 || strncmp(e->msg, "template:", 9) == 0);
	for (const char *c = e->msg; *c; c++)
		must(*c >= 0x20 && *c < 0x7f);
}

static void check_stage(const struct job *job, size_t number)
{
	const struct job_stage *s = &job->stages[number];
	must(s->name && s->asked.image && s->asked.command_len > 0);
	for (size_t i = 0; i < s->links_len; i++) {
		const struct job_link *l = &s->links[i];
		must(l->input < s->asked.inputs.len);
		must(l->stage == LINK_SOURCE ? job->source.kind != SOURCE_NONE
					     : (size_t)l->stage < number &&
						       l->output < job->stages[l->stage].outputs_len);
	}
	for (size_t i = 0; i < s->outputs_len; i++)
		must(s->outputs[i].path[0] != '/' && s->outputs[i].max_files > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct job job;
	const struct job_text text = {.name = "fuzz", .text = (const char *)data, .len = size};
	if (job_read(&job, &text, &a, &e) < 0) {
		check_refusal(&e);
		return 0;
	}
	must(job.stages_len > 0 && job.stages_len <= JOB_STAGES_MAX);
	must(job.matrix.combinations <= JOB_COMBINATIONS_MAX);
	for (size_t i = 0; i < job.stages_len; i++)
		check_stage(&job, i);
	for (size_t i = 0; i < job.matrix.combinations; i++) {
		struct job_setting set[JOB_PARAMETERS_MAX];
		job_combination(&job.matrix, i, set);
		for (size_t p = 0; p < job.matrix.parameters_len; p++)
			must(set[p].name && set[p].value);
	}
	return 0;
}
