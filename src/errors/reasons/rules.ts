import { reasons } from '../reason.ts'

/** Refusals about recurring rules. `text` is what was written, quoted. */
export const RULE_REASONS = reasons('invalid_rule', {
  'reschedule.ends_recurrence':
    'invalid_request: The alarm recurs ({rule}), and the new time is a single instant, which would end the recurrence. To change the rule, use a recurring time such as <cron=0 10 * * 5>. To move one occurrence, skip it and set another alarm for that instant. To end the recurrence, cancel the alarm.',
  'cron.field_count':
    "{text} is not a cron expression. Use 5 fields (minute hour day month weekday), 6 with seconds in front, {nicknames} or '@every 5m'.",
  /** `cause` is what the library that parses cron found wrong. */
  'cron.field': '{text} is not a cron expression: {cause}.',
  // RFC 5545. Its names are the same in every interface: `part` is one of them, such as BYDAY.
  'rrule.too_long': "An RRULE is a text of at most {max} characters, such as 'FREQ=WEEKLY;BYDAY=MO'.",
  'rrule.missing': "{text} has no RRULE. Write one such as 'RRULE:FREQ=WEEKLY;BYDAY=MO'.",
  'rrule.not_a_line': "The line {text} is not NAME:value, as in 'RRULE:FREQ=DAILY'.",
  'rrule.unknown_line': 'The line {part} is unknown. An rrule has lines of DTSTART, RRULE, RDATE and EXDATE.',
  'rrule.exrule': 'EXRULE is obsolete since RFC 5545 and not supported. Name the dates with EXDATE.',
  'rrule.too_many': 'There are more than {max} RRULEs. Set several alarms.',
  'rrule.line_twice': '{part} appears twice. Use one.',
  'rrule.parameter': ({ part, name, known }: { part: string; name: string; known: readonly string[] }) =>
    `${part} has the parameter ${name}, which is unknown or appears twice. It may have ${known.length === 0 ? 'none' : known.join(' and ')}.`,
  'rrule.value_type': '{part};VALUE={type} does not fit {value}, which is a {expected}. Change one of them.',
  'rrule.utc_with_zone': '{part} {value} is in UTC and has a TZID. Leave out the Z or the TZID.',
  'rrule.period': "RDATE {value} is not a period. Write 20261224T180000/PT1H or two times with '/' between.",
  'rrule.no_freq': '{text} has no FREQ. Start with a FREQ such as FREQ=DAILY.',
  'rrule.freq': 'FREQ={value} is not one of {allowed}.',
  'rrule.not_a_part': "{text} is not a part of an RRULE. Write NAME=value, with parts separated by ';'.",
  'rrule.line_as_part':
    '{part} is not a part of an RRULE. Write it on a line of its own, as {part}:20261224T180000.',
  'rrule.unknown_part': '{part} is unknown. An RRULE has {known}.',
  'rrule.part_twice': "{part} appears twice. Use it once, with values separated by ','.",
  'rrule.number': ({
    part,
    value,
    min,
    max,
    negative,
  }: {
    part: string
    value: string
    min: number
    max: number
    negative: boolean
  }) =>
    `${part}=${value} is not a whole number from ${min} to ${max}${negative ? ` or -${max} to -${min}` : ''}.`,
  'rrule.weekday': ({
    part,
    value,
    known,
    numbered,
  }: {
    part: string
    value: string
    known: readonly string[]
    numbered: boolean
  }) =>
    `${part}=${value} is not a weekday. Write ${known.join(', ')}${numbered ? ", with a number from 1 to 53 in front for the nth ('2MO'), negative from the end" : ''}.`,
  'rrule.count_and_until': 'COUNT and UNTIL exclude each other. Use one of them.',
  'rrule.freq_of_part': '{part} cannot be used with FREQ={freq}, only with {allowed}.',
  'rrule.freq_of_numbered_day':
    'BYDAY with a number cannot be used with FREQ={freq}, only with MONTHLY or YEARLY.',
  'rrule.numbered_day_and_week': 'BYDAY with a number cannot be used with BYWEEKNO. Use one of them.',
  'rrule.setpos_alone': 'BYSETPOS needs another BY part to select from, such as BYDAY.',
  'rrule.date': '{part} {text} is not a date. Write 20261224, 20261224T180000 or, in UTC, 20261224T170000Z.',
  'rrule.no_such_date': '{part} {text} does not exist on the calendar and clock.',
  'rrule.date_out_of_range': '{part} {text} is outside the years {min} to 9999.',

  // Rules of every kind.
  'rule.never_fires':
    '{text} never fires: no such day and time comes before the year 10000. Use days that exist.',
  'rule.until_before_first':
    '{text} never fires: its UNTIL is before its first occurrence. Use a later UNTIL.',
  'rule.all_removed': '{text} never fires: its EXDATEs leave none of its dates. Remove fewer dates.',
  'rule.all_past': '{text} never fires: all its occurrences are past. Use a later end.',
  'rule.outside_bounds':
    '{text} never fires: none of its instants from now on is between its start and its end. Use a later end.',
  'rule.only_days_off':
    "{text} fires only on days off. Exclude fewer days, or use <exclude.move=next> or 'previous'.",
  'rule.end_before_start': '<end> {end} is before <start> {start}.',
  'rule.jitter_too_long':
    '<jitter> {jitter} is longer than the {gap} between two instants of {text}. Use less.',
  'rule.cannot_move':
    '{text} fires more than once a day, and only a rule that fires at most once a day can move. Leave out <exclude.move> to skip days off.',
  'rule.fixed_length':
    'invalid_request: {text} has a fixed length, so clock changes do not affect it. Leave <dst> out.',
  'rule.kept_exclusion': (_: Record<never, never>, words) =>
    `The days off are those of the old rule. ${words.interface === 'cli' ? '--exclude none' : `\`exclude: []\``} drops them.`,
})
