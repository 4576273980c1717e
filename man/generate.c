/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * generate TEMPLATE: prints the template; a line @NAME@ is replaced by what the table of that name
 * says. So the manual pages and the completion follow verbs.def and fields.def, and none of what
 * they list is written twice.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/fields.h"

static const struct verb {
	const char *name, *summary, *arguments, *help;
} verbs[] = {
#define VERB(name, function, summary, arguments, help) {name, summary, arguments, help},
#include "isoctl/verbs.def"
#undef VERB
};

#define VERBS (sizeof verbs / sizeof *verbs)

/* ------------------------------------------------------------------------------ mdoc */

/* Text of a roff line: a control character at its start and every escape lose their meaning. */
static void roff(const char *s, size_t n)
{
	if (n && (*s == '.' || *s == '\''))
		fputs("\\&", stdout);
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\\')
			fputs("\\e", stdout);
		else if (s[i] == '-')
			fputs("\\-", stdout);
		else
			putchar(s[i]);
	}
}

static void roff_line(const char *s)
{
	roff(s, strlen(s));
	putchar('\n');
}

/* Text that is filled: a new line for each sentence, and none that is long. */
static void roff_text(const char *s, size_t n)
{
	size_t start = 0, column = 0;

	for (size_t i = 0; i < n; i++, column++) {
		if (!i || s[i] != ' ' || !(column > 60 || s[i - 1] == '.'))
			continue;
		roff(s + start, i - start);
		putchar('\n');
		start = i + 1;
		column = 0;
	}
	roff(s + start, n - start);
}

/*
 * "  --option ARG   text": where the text begins, or 0 when the line is no such row. Where an
 * option is too long for the column, one blank is before the text, and ARG is in capitals.
 */
static size_t option_text(const char *line, size_t n)
{
	size_t i = 3;

	if (n < 5 || strncmp(line, "  -", 3) != 0)
		return 0;
	for (; i + 1 < n; i++)
		if (line[i] == ' ' && line[i + 1] == ' ')
			return i + strspn(line + i, " ");
	i = 2 + strcspn(line + 2, " \n");
	if (i < n && strspn(line + i + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") > 1)
		i += 1 + strcspn(line + i + 1, " \n");
	return i < n ? i + 1 : 0;
}

static void mdoc_option(const char *line, size_t n, bool first)
{
	while (line[n - 1] == ' ')
		n--;
	if (first)
		puts(".Bl -tag -width Ds");
	fputs(".It Xo\n\\fB", stdout);
	roff(line + 2, n - 2);
	fputs("\\fP\n.Xc\n", stdout);
}

/* One verb's help text: paragraphs, and rows of options as a list. */
static void mdoc_help(const char *help)
{
	bool list = false, gap = false;

	for (const char *line = help; *line; line += *line == '\n') {
		size_t n = strcspn(line, "\n"), text = option_text(line, n);

		if (list && !text && strncmp(line, "   ", 3) != 0) {
			puts(".El");
			list = false;
		}
		if (text) {
			mdoc_option(line, text, !list);
			list = true;
			line += text;
			n -= text;
		} else if (n && (gap || !strncmp(line, "Exit status", 11))) {
			puts(".Pp");
		}
		gap = !n;
		for (; n && *line == ' '; n--)
			line++;
		if (n) {
			roff_text(line, n);
			putchar('\n');
		}
		line += n;
	}
	if (list)
		puts(".El");
}

static void mdoc_synopsis(void)
{
	for (size_t i = 0; i < VERBS; i++) {
		printf(".Nm\n.Cm %s\n", verbs[i].name);
		if (!*verbs[i].arguments)
			continue;
		roff_text(verbs[i].arguments, strlen(verbs[i].arguments));
		putchar('\n');
	}
}

static void mdoc_verbs(void)
{
	for (size_t i = 0; i < VERBS; i++) {
		printf(".Ss isoctl %s\n\\fBisoctl %s\\fP\n", verbs[i].name, verbs[i].name);
		roff_text(verbs[i].arguments, strlen(verbs[i].arguments));
		printf("%s.Pp\nTo %s.\n%s", *verbs[i].arguments ? "\n" : "", verbs[i].summary,
		       strncmp(verbs[i].help, "  -", 3) != 0 ? ".Pp\n" : "");
		mdoc_help(verbs[i].help);
	}
}

/* What the numbers of a range count. */
static const char *unit(enum iso_type type)
{
	switch (type) {
	case ISO_TYPE_CPUS:
		return " thousandths";
	case ISO_TYPE_TIME:
		return " ms";
	case ISO_TYPE_LIST:
	case ISO_TYPE_MAP:
		return " entries";
	case ISO_TYPE_INTEGER:
	case ISO_TYPE_ATTEMPT:
		return "";
	default:
		return " bytes";
	}
}

static void mdoc_words(const char *before, const char *words)
{
	const char *word;
	size_t n;

	while ((word = iso_word_next(&words, &n))) {
		fputs(before, stdout);
		roff(word, n);
		before = ", ";
	}
	puts(".");
}

static void mdoc_enforced(const char *enforced)
{
	if (!enforced)
		return;
	if (!*enforced)
		puts("Not enforced by this version: refused where it stands.");
	else if (!strcmp(enforced, "[]"))
		puts("Not enforced by this version: it may only be empty.");
	else
		mdoc_words("Enforced by this version, others are refused: ", enforced);
}

static void mdoc_table(const struct iso_table *table)
{
	puts(".Bl -tag -width Ds");
	for (size_t i = 0; i < table->count; i++) {
		const struct iso_field *f = &table->rows[i];

		fputs(".It ", stdout);
		roff_line(f->pointer);
		roff_text(f->text, strlen(f->text));
		printf(".\nIt is %s%s.\n", iso_type_names[f->type].what,
		       f->need == ISO_NEED_OPTIONAL ? "" : " and must be there");
		if (f->words)
			mdoc_words("One of: ", f->words);
		if (f->max)
			printf("Range: %" PRIu64 " to %" PRIu64 "%s.\n", f->min, f->max,
			       unit(f->type));
		if (f->absent) {
			fputs("If absent: ", stdout);
			roff(f->absent, strlen(f->absent));
			puts(".");
		}
		mdoc_enforced(f->enforced);
	}
	puts(".El");
}

static void mdoc_fields(void)
{
	mdoc_table(&iso_manifest_table);
}

static void mdoc_ceiling(void)
{
	mdoc_table(&iso_ceiling_table);
}

static void mdoc_types(void)
{
	puts(".Bl -tag -width Ds");
	for (size_t i = 0; i < ISO_TYPE_MAX; i++) {
		fputs(".It ", stdout);
		roff_line(iso_type_names[i].what);
		roff_text(iso_type_names[i].right, strlen(iso_type_names[i].right));
		putchar('\n');
	}
	puts(".El");
}

/* ------------------------------------------------------------------------------ completion */

/* Length of the first of a verb's words. */
static size_t head(size_t i)
{
	return strcspn(verbs[i].name, " ");
}

static bool same_head(size_t a, size_t b)
{
	return head(a) == head(b) && !strncmp(verbs[a].name, verbs[b].name, head(a));
}

/* Is it the first of the verbs that begin with its word? */
static bool is_first(size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (same_head(i, j))
			return false;
	return true;
}

/* The long options of a help text: rows "  --option …" and "  -o, --option …". */
static void bash_options(const char *help)
{
	for (const char *line = help; *line; line += *line == '\n') {
		size_t n = strcspn(line, "\n"), text = option_text(line, n);
		const char *option = text ? strstr(line, "--") : NULL;

		if (option && option < line + text)
			printf(" %.*s", (int)strcspn(option, " ,=\n"), option);
		line += n;
	}
}

/* Rows of a bash `case`: what may follow each verb, or each first word of one. */
static void bash_words(void)
{
	fputs("\t'') words='--help --version", stdout);
	for (size_t i = 0; i < VERBS; i++)
		if (is_first(i))
			printf(" %.*s", (int)head(i), verbs[i].name);
	puts("' ;;");
	for (size_t i = 0; i < VERBS; i++) {
		if (!is_first(i))
			continue;
		printf("\t'%.*s') words='--help", (int)head(i), verbs[i].name);
		for (size_t j = i; j < VERBS; j++) {
			if (same_head(i, j) && verbs[j].name[head(j)])
				printf("%s", verbs[j].name + head(j));
			else if (same_head(i, j))
				bash_options(verbs[j].help);
		}
		puts("' ;;");
	}
	for (size_t i = 0; i < VERBS; i++) {
		if (!verbs[i].name[head(i)])
			continue;
		printf("\t'%s') words='--help", verbs[i].name);
		bash_options(verbs[i].help);
		puts("' ;;");
	}
}

/* ------------------------------------------------------------------------------ templates */

static const struct part {
	const char *line;
	void (*print)(void);
} parts[] = {
	{"@synopsis@\n", mdoc_synopsis}, {"@verbs@\n", mdoc_verbs}, {"@fields@\n", mdoc_fields},
	{"@types@\n", mdoc_types},	 {"@words@\n", bash_words}, {"@ceiling@\n", mdoc_ceiling},
};

static void print(const char *line)
{
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		if (!strcmp(parts[i].line, line)) {
			parts[i].print();
			return;
		}
	}
	fputs(line, stdout);
}

int main(int argc, char **argv)
{
	FILE *template = argc == 2 ? fopen(argv[1], "re") : NULL;
	char *line = NULL;
	size_t room = 0;
	bool bad;

	if (!template) {
		fputs("usage: generate TEMPLATE (a file that can be read)\n", stderr);
		return EXIT_FAILURE;
	}
	while (getline(&line, &room, template) > 0)
		print(line);
	bad = ferror(template);
	free(line);
	fclose(template);
	return bad || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
