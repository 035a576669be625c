#include "pipeline/scan/language.h"

#include <string.h>
#include <strings.h>

#define JAVASCRIPT_MODULES "require import module.require process.mainModule.require"
#define JAVASCRIPT_GLOBALS "globalThis window global self"

extern const TSLanguage *tree_sitter_python(void);
extern const TSLanguage *tree_sitter_c(void);
extern const TSLanguage *tree_sitter_cpp(void);
extern const TSLanguage *tree_sitter_c_sharp(void);
extern const TSLanguage *tree_sitter_javascript(void);
extern const TSLanguage *tree_sitter_typescript(void);
extern const TSLanguage *tree_sitter_tsx(void);
extern const TSLanguage *tree_sitter_java(void);
extern const TSLanguage *tree_sitter_bash(void);

static const struct form python_forms[] = {
	{"identifier", SPELL_NAME},
	{"dotted_name", SPELL_NAME},
	{"relative_import", SPELL_NAME},
	{"attribute", SPELL_MEMBER, "object", "attribute"},
	{"subscript", SPELL_INDEX, "value", "subscript"},
	{"call", SPELL_CALL, "function"},
	{"parenthesized_expression", SPELL_INSIDE},
	{"named_expression", SPELL_INSIDE, "value"},
	{"await", SPELL_INSIDE},
	{"string", SPELL_LITERAL},
	{"concatenated_string", SPELL_LITERAL},
	{NULL},
};

static const struct form c_forms[] = {
	{"identifier", SPELL_NAME},
	{"field_identifier", SPELL_NAME},
	{"type_identifier", SPELL_NAME},
	{"namespace_identifier", SPELL_NAME},
	{"qualified_identifier", SPELL_NAME},
	{"nested_namespace_specifier", SPELL_NAME},
	{"preproc_arg", SPELL_NAME},
	{"template_function", SPELL_INSIDE, "name"},
	{"template_type", SPELL_INSIDE, "name"},
	{"field_expression", SPELL_MEMBER, "argument", "field"},
	{"call_expression", SPELL_CALL, "function"},
	{"parenthesized_expression", SPELL_INSIDE},
	{"pointer_expression", SPELL_INSIDE, "argument"},
	{"cast_expression", SPELL_INSIDE, "value"},
	{"string_literal", SPELL_LITERAL},
	{"concatenated_string", SPELL_LITERAL},
	{NULL},
};

static const struct form csharp_forms[] = {
	{"identifier", SPELL_NAME},
	{"predefined_type", SPELL_NAME},
	{"qualified_name", SPELL_NAME},
	{"alias_qualified_name", SPELL_NAME},
	{"generic_name", SPELL_INSIDE},
	{"nullable_type", SPELL_INSIDE, "type"},
	{"member_access_expression", SPELL_MEMBER, "expression", "name"},
	{"invocation_expression", SPELL_CALL, "function"},
	{"object_creation_expression", SPELL_INSIDE, "type"},
	{"parenthesized_expression", SPELL_INSIDE},
	{"await_expression", SPELL_INSIDE},
	{"string_literal", SPELL_LITERAL},
	{"verbatim_string_literal", SPELL_LITERAL},
	{"raw_string_literal", SPELL_LITERAL},
	{NULL},
};

static const struct form javascript_forms[] = {
	{"identifier", SPELL_NAME},
	{"property_identifier", SPELL_NAME},
	{"shorthand_property_identifier", SPELL_NAME},
	{"shorthand_property_identifier_pattern", SPELL_NAME},
	{"import", SPELL_NAME},
	{"this", SPELL_NAME},
	{"type_identifier", SPELL_NAME},
	{"member_expression", SPELL_MEMBER, "object", "property"},
	{"subscript_expression", SPELL_INDEX, "object", "index"},
	{"call_expression", SPELL_CALL, "function"},
	{"new_expression", SPELL_NEW, "constructor"},
	{"parenthesized_expression", SPELL_INSIDE},
	{"await_expression", SPELL_INSIDE},
	{"non_null_expression", SPELL_INSIDE},
	{"as_expression", SPELL_INSIDE},
	{"satisfies_expression", SPELL_INSIDE},
	{"type_assertion", SPELL_LAST},
	{"sequence_expression", SPELL_LAST},
	{"string", SPELL_LITERAL},
	{"template_string", SPELL_LITERAL},
	{NULL},
};

static const struct form java_forms[] = {
	{"identifier", SPELL_NAME},
	{"type_identifier", SPELL_NAME},
	{"scoped_identifier", SPELL_NAME},
	{"scoped_type_identifier", SPELL_NAME},
	{"this", SPELL_NAME},
	{"generic_type", SPELL_INSIDE},
	{"field_access", SPELL_MEMBER, "object", "field"},
	{"method_invocation", SPELL_METHOD, "object", "name"},
	{"object_creation_expression", SPELL_INSIDE, "type"},
	{"class_literal", SPELL_NAME},
	{"parenthesized_expression", SPELL_INSIDE},
	{"cast_expression", SPELL_INSIDE, "value"},
	{"string_literal", SPELL_LITERAL},
	{NULL},
};

static const struct form shell_forms[] = {
	{"command_name", SPELL_WORD},
	{"word", SPELL_WORD},
	{"string", SPELL_WORD},
	{"raw_string", SPELL_WORD},
	{"ansi_c_string", SPELL_WORD},
	{"translated_string", SPELL_WORD},
	{"concatenation", SPELL_WORD},
	{"simple_expansion", SPELL_WORD},
	{"expansion", SPELL_WORD},
	{"variable_name", SPELL_VARIABLE},
	{NULL},
};

const struct language_row languages[LANGUAGES] = {
	[LANGUAGE_PYTHON] = {.name = "Python",
			     .folders = {"python"},
			     .extensions = "py pyw pyi pyx",
			     .interpreters = "python python2 python3 pypy pypy3",
			     .grammar = tree_sitter_python,
			     .forms = python_forms,
			     .module_calls = "__import__ importlib.import_module import_module",
			     .member_calls = "getattr",
			     .same_calls = "vars staticmethod partial functools.partial",
			     .around = "sys.modules globals() locals() vars()",
			     .self = "self",
			     .implicit = "builtins"},
	[LANGUAGE_C] = {.name = "C",
			.folders = {"c"},
			.extensions = "c",
			.grammar = tree_sitter_c,
			.forms = c_forms},
	/* Headers are read as the larger one of the two. */
	[LANGUAGE_CPP] = {.name = "C++",
			  .folders = {"c", "cpp"},
			  .extensions = "cc cpp cxx c++ h hh hpp hxx ipp inl cu cuh",
			  .grammar = tree_sitter_cpp,
			  .forms = c_forms},
	[LANGUAGE_CSHARP] = {.name = "C#",
			     .folders = {"csharp"},
			     .extensions = "cs csx",
			     .grammar = tree_sitter_c_sharp,
			     .forms = csharp_forms,
			     /* ImplicitUsings of the SDK. */
			     .implicit = "System System.IO System.Net.Http System.Threading"},
	[LANGUAGE_JAVASCRIPT] = {.name = "JavaScript",
				 .folders = {"javascript"},
				 .extensions = "js mjs cjs jsx",
				 .interpreters = "node nodejs",
				 .grammar = tree_sitter_javascript,
				 .forms = javascript_forms,
				 .module_calls = JAVASCRIPT_MODULES,
				 .same_calls = "promisify util.promisify",
				 .around = JAVASCRIPT_GLOBALS,
				 .self = "this"},
	[LANGUAGE_TYPESCRIPT] = {.name = "TypeScript",
				 .folders = {"javascript", "typescript"},
				 .extensions = "ts mts cts",
				 .interpreters = "deno ts-node bun",
				 .grammar = tree_sitter_typescript,
				 .forms = javascript_forms,
				 .module_calls = JAVASCRIPT_MODULES,
				 .same_calls = "promisify util.promisify",
				 .around = JAVASCRIPT_GLOBALS,
				 .self = "this"},
	[LANGUAGE_TSX] = {.name = "TypeScript",
			  .folders = {"javascript", "typescript"},
			  .extensions = "tsx",
			  .grammar = tree_sitter_tsx,
			  .forms = javascript_forms,
			  .module_calls = JAVASCRIPT_MODULES,
			  .same_calls = "promisify util.promisify",
			  .around = JAVASCRIPT_GLOBALS,
			  .self = "this"},
	[LANGUAGE_JAVA] = {.name = "Java",
			   .folders = {"java"},
			   .extensions = "java",
			   .interpreters = "java",
			   .grammar = tree_sitter_java,
			   .forms = java_forms,
			   .implicit = "java.lang"},
	[LANGUAGE_SHELL] = {.name = "shell",
			    .folders = {"shell"},
			    .extensions = "sh bash zsh ksh bats",
			    .interpreters = "sh bash dash zsh ksh ash",
			    .grammar = tree_sitter_bash,
			    .forms = shell_forms},
};

bool language_lists(const char *words, const char *word, size_t len)
{
	while (words && *words) {
		const size_t n = strcspn(words, " ");
		if (n == len && strncasecmp(words, word, len) == 0)
			return true;
		words += n + (words[n] == ' ');
	}
	return false;
}

/* "#!/usr/bin/env -S python3 -u": the first word whose last component is no "env" and no option. */
static enum language by_interpreter(const char *text, size_t len)
{
	const char *newline = memchr(text, '\n', len);
	size_t at = 2, end = newline ? (size_t)(newline - text) : len;
	while (at < end) {
		while (at < end && strchr(" \t\r", text[at]))
			at++;
		size_t from = at;
		while (at < end && !strchr(" \t\r", text[at]))
			at++;
		for (size_t i = from; i < at; i++)
			from = text[i] == '/' ? i + 1 : from;
		size_t size = at - from;
		if (size == 0 || text[from] == '-' || (size == 3 && !memcmp(text + from, "env", 3)))
			continue;
		/* python3.11 */
		const char *dot = memchr(text + from, '.', size);
		size = dot ? (size_t)(dot - (text + from)) : size;
		for (int i = 0; i < LANGUAGES; i++)
			if (language_lists(languages[i].interpreters, text + from, size))
				return (enum language)i;
		return LANGUAGE_NONE;
	}
	return LANGUAGE_NONE;
}

enum language language_of(const char *name, const char *text, size_t len)
{
	const char *dot = strrchr(name, '.');
	for (int i = 0; dot && i < LANGUAGES; i++)
		if (language_lists(languages[i].extensions, dot + 1, strlen(dot + 1)))
			return (enum language)i;
	if (len > 2 && text[0] == '#' && text[1] == '!')
		return by_interpreter(text, len < 256 ? len : 256);
	return LANGUAGE_NONE;
}
