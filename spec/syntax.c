#include "spec/syntax.h"

const char *syntax_words(const json_error_t *found)
{
	switch (json_error_code(found)) {
	case json_error_out_of_memory:
		return "out of memory";
	case json_error_stack_overflow:
		return "nested too deep";
	case json_error_invalid_utf8:
		return "bytes that are not UTF-8";
	case json_error_premature_end_of_input:
		return "the text ends in the middle: a quote, a bracket or a brace is not closed";
	case json_error_end_of_input_expected:
		return "something stands behind the end of the document";
	case json_error_null_character:
	case json_error_null_byte_in_key:
		return "a text that holds a NUL (\\u0000), which no text may";
	case json_error_duplicate_key:
		return "a key that is there already";
	case json_error_numeric_overflow:
		return "a number out of range";
	default:
		return "not JSON here, or just before: a comma, a quote or a colon too many or missing, perhaps";
	}
}

int syntax_refuse(const char *name, const struct json_text *j, const json_error_t *found,
		  struct err *e)
{
	size_t first = locate_start(j), line, column;
	if (first == j->len)
		return err_usage(e, "%s:1:1: it is empty; a JSON object belongs here", name);
	if (j->text[first] != '{' && j->text[first] != '[') {
		locate_position(j, first, &line, &column);
		return err_usage(e, "%s:%zu:%zu: an object belongs here, in braces", name, line,
				 column);
	}
	return err_usage(e, "%s:%d:%d: %s", name, found->line > 0 ? found->line : 1,
			 found->column > 0 ? found->column : 1, syntax_words(found));
}
