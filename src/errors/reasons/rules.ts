import { type Definitions, reason } from '../reason.ts'

/** Refusals about recurring rules. `text` is what was written, quoted. */
export const RULE_REASONS = {
  'cron.field_count':
    "invalid_rule: {text} is not a cron expression. Use 5 fields (minute hour day month weekday), 6 with seconds in front, {nicknames} or '@every 5m'.",
  /** `cause` is what the library that parses cron found wrong. */
  'cron.field': 'invalid_rule: {text} is not a cron expression: {cause}.',
  // RFC 5545. Its names are the same in every interface: `part` is one of them, such as BYDAY.
  'rrule.too_long':
    "invalid_rule: An RRULE is a text of at most {max} characters, such as 'FREQ=WEEKLY;BYDAY=MO'.",
  'rrule.missing': "invalid_rule: {text} has no RRULE. Write one such as 'RRULE:FREQ=WEEKLY;BYDAY=MO'.",
  'rrule.not_a_line': "invalid_rule: The line {text} is not NAME:value, as in 'RRULE:FREQ=DAILY'.",
  'rrule.unknown_line':
    'invalid_rule: The line {part} is unknown. An rrule has lines of DTSTART, RRULE, RDATE and EXDATE.',
  'rrule.exrule':
    'invalid_rule: EXRULE is obsolete since RFC 5545 and not supported. Name the dates with EXDATE.',
  'rrule.too_many': 'invalid_rule: There are more than {max} RRULEs. Set several alarms.',
  'rrule.line_twice': 'invalid_rule: {part} appears twice. Use one.',
  'rrule.parameter': reason<{ part: string; name: string; known: readonly string[] }>(
    'invalid_rule',
    ({ part, name, known }) =>
      `${part} has the parameter ${name}, which is unknown or appears twice. It may have ${known.length === 0 ? 'none' : known.join(' and ')}.`,
  ),
  'rrule.value_type':
    'invalid_rule: {part};VALUE={type} does not fit {value}, which is a {expected}. Change one of them.',
  'rrule.utc_with_zone':
    'invalid_rule: {part} {value} is in UTC and has a TZID. Leave out the Z or the TZID.',
  'rrule.period':
    "invalid_rule: RDATE {value} is not a period. Write 20261224T180000/PT1H or two times with '/' between.",
  'rrule.no_freq': 'invalid_rule: {text} has no FREQ. Start with a FREQ such as FREQ=DAILY.',
  'rrule.freq': 'invalid_rule: FREQ={value} is not one of {allowed}.',
  'rrule.not_a_part':
    "invalid_rule: {text} is not a part of an RRULE. Write NAME=value, with parts separated by ';'.",
  'rrule.line_as_part':
    'invalid_rule: {part} is not a part of an RRULE. Write it on a line of its own, as {part}:20261224T180000.',
  'rrule.unknown_part': 'invalid_rule: {part} is unknown. An RRULE has {known}.',
  'rrule.part_twice': "invalid_rule: {part} appears twice. Use it once, with values separated by ','.",
  'rrule.number': reason<{ part: string; value: string; min: number; max: number; negative: boolean }>(
    'invalid_rule',
    ({ part, value, min, max, negative }) =>
      `${part}=${value} is not a whole number from ${min} to ${max}${negative ? ` or -${max} to -${min}` : ''}.`,
  ),
  'rrule.weekday': reason<{ part: string; value: string; known: readonly string[]; numbered: boolean }>(
    'invalid_rule',
    ({ part, value, known, numbered }) =>
      `${part}=${value} is not a weekday. Write ${known.join(', ')}${numbered ? ", with a number from 1 to 53 in front for the nth ('2MO'), negative from the end" : ''}.`,
  ),
  'rrule.count_and_until': 'invalid_rule: COUNT and UNTIL exclude each other. Use one of them.',
  'rrule.freq_of_part': 'invalid_rule: {part} cannot be used with FREQ={freq}, only with {allowed}.',
  'rrule.freq_of_numbered_day':
    'invalid_rule: BYDAY with a number cannot be used with FREQ={freq}, only with MONTHLY or YEARLY.',
  'rrule.numbered_day_and_week':
    'invalid_rule: BYDAY with a number cannot be used with BYWEEKNO. Use one of them.',
  'rrule.setpos_alone': 'invalid_rule: BYSETPOS needs another BY part to select from, such as BYDAY.',
  'rrule.date':
    'invalid_rule: {part} {text} is not a date. Write 20261224, 20261224T180000 or, in UTC, 20261224T170000Z.',
  'rrule.no_such_date': 'invalid_rule: {part} {text} does not exist on the calendar and clock.',
  'rrule.date_out_of_range': 'invalid_rule: {part} {text} is outside the years {min} to 9999.',

  // Rules of every kind.
  'rule.never_fires':
    'invalid_rule: {text} never fires: no such day and time comes before the year 10000. Use days that exist.',
  'rule.until_before_first':
    'invalid_rule: {text} never fires: its UNTIL is before its first occurrence. Use a later UNTIL.',
  'rule.all_removed':
    'invalid_rule: {text} never fires: its EXDATEs leave none of its dates. Remove fewer dates.',
  'rule.all_past': 'invalid_rule: {text} never fires: all its occurrences are past. Use a later end.',
  'rule.outside_bounds':
    'invalid_rule: {text} never fires: it has no instant between <start> and <end>. Use a longer span.',
  'rule.only_days_off':
    "invalid_rule: {text} fires only on days off. Exclude fewer days, or use <exclude.move=next> or 'previous'.",
  'rule.end_before_start': 'invalid_rule: <end> {end} is before <start> {start}.',
  'rule.jitter_too_long':
    'invalid_rule: <jitter> {jitter} is longer than the {gap} between two instants of {text}. Use less.',
  'rule.cannot_move':
    'invalid_rule: {text} fires more than once a day, and only a rule that fires at most once a day can move. Leave out <exclude.move> to skip days off.',
  'rule.fixed_length': reason<{ text: string }>(
    'invalid_request',
    ({ text }, words) =>
      `${text} has a fixed length, so clock changes do not affect it. Leave ${words.name('dst')} out.`,
  ),
  'rule.kept_exclusion': reason(
    'invalid_rule',
    (_, words) =>
      `The days off are those of the old rule. ${words.interface === 'cli' ? '--exclude none' : `\`exclude: []\``} drops them.`,
  ),
} as const satisfies Definitions
