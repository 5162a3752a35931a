/*
 * problem.h - what libyaml could not parse, in a sentence
 */
#pragma once

#include <yaml.h>

#include "yaml/answer.h"
#include "yaml/text.h"

struct position problem_place(yaml_mark_t mark); /* libyaml counts from 0 */

void problem_answer(const yaml_parser_t *parser, struct text *text, struct answer *answer);
