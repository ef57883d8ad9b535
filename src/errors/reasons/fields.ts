import { type Param, reason } from '../reason.ts'

/** The parameters of an unknown field. */
export interface UnknownField extends Record<string, Param> {
  /** The unknown name. */
  readonly name: string
  /** The names that are known there. */
  readonly fields: readonly string[]
  /** The known name that was probably meant. */
  readonly other: string | null
}

/** Refusals that any field can have. */
export const FIELD_REASONS = {
  'field.unknown': reason<UnknownField>('invalid_request', ({ name, fields, other }, words) => {
    const what = `Unknown ${words.part} ${JSON.stringify(name)}.`
    const meant = other === null ? '' : ` Did you mean ${words.name(other)}?`
    return `${what}${meant}${fields.length === 0 ? '' : ` Known: ${words.names(fields)}.`}`
  }),
  'field.required': reason<{ expected: string }>(
    'invalid_request',
    ({ expected }, words) => `${words.it} is required.${expected === '' ? '' : ` ${expected}`}`,
  ),
  'field.invalid': reason<{ expected: string; value: string }>(
    'invalid_request',
    ({ expected, value }, words) => `${words.it} must be ${expected}, not ${value}.`,
  ),
  /** Without the value, which may be a secret or says nothing. */
  'field.malformed': reason<{ expected: string }>(
    'invalid_request',
    ({ expected }, words) => `${words.it} must be ${expected}.`,
  ),
  'field.not_one_of': reason<{ allowed: readonly string[]; value: string }>(
    'invalid_request',
    ({ allowed, value }, words) => `${words.it} must be one of ${allowed.join(', ')}, not ${value}.`,
  ),
  'field.not_whole_number': reason<{ min: number; max: number | null; value: string }>(
    'invalid_request',
    ({ min, max, value }, words) =>
      `${words.it} must be a whole number ${max === null ? `of at least ${min}` : `from ${min} to ${max}`}, not ${value}.`,
  ),
  'field.too_small': reason<{ min: number; inclusive: boolean }>(
    'invalid_request',
    ({ min, inclusive }, words) =>
      `${words.it} must be ${inclusive ? 'at least' : 'greater than'} ${min === 0 ? 'zero' : min}.`,
  ),
  'field.too_large': reason<{ max: number; inclusive: boolean }>(
    'invalid_request',
    ({ max, inclusive }, words) => `${words.it} must be ${inclusive ? 'at most' : 'less than'} ${max}.`,
  ),
  'field.too_few': reason<{ min: number; unit: string }>(
    'invalid_request',
    ({ min, unit }, words) => `${words.it} must have at least ${counted(min, unit)}.`,
  ),
  'field.too_many': reason<{ max: number; unit: string }>(
    'invalid_request',
    ({ max, unit }, words) => `${words.it} must have at most ${counted(max, unit)}.`,
  ),
  'field.empty': reason(
    'invalid_request',
    (_, words) => `${words.it} is empty. Set a value, or leave it out.`,
  ),
  'field.too_long': reason<{ bytes: number; max: number }>(
    'invalid_request',
    ({ bytes, max }, words) => `${words.it} is ${bytes} bytes long. At most ${max} are allowed.`,
  ),
  'field.nul_character': reason(
    'invalid_request',
    (_, words) => `${words.it} contains a NUL character, which cannot be stored.`,
  ),
  'field.lone_surrogate': reason(
    'invalid_request',
    (_, words) => `${words.it} contains half of a surrogate pair, which cannot be stored.`,
  ),
  'field.without_unit': reason<{ example: string }>(
    'invalid_request',
    ({ example }, words) =>
      `${words.it} must be a string with a unit, such as "${example}" for seconds, not a number.`,
  ),
  'field.immutable': reason(
    'invalid_request',
    (_, words) => `${words.it} cannot be edited. Set another alarm instead.`,
  ),
  'field.both': reason<{ other: string }>(
    'invalid_request',
    ({ other }, words) => `${words.it} and ${words.name(other)} exclude each other. Use one of them.`,
  ),
  'field.needs': reason<{ other: string }>(
    'invalid_request',
    ({ other }, words) => `${words.it} needs ${words.name(other)}. Set both.`,
  ),
  'field.misplaced': reason<{ call: string; name: string }>(
    'invalid_request',
    ({ call, name }, words) =>
      `${words.it} belongs inside the first argument of ${call}: { at: 'every day at 9am', ${name}: … }.`,
  ),
  'options.not_object': reason<{ call: string; value: string }>(
    'invalid_request',
    ({ call, value }) => `${call} takes its options as an object, not ${value}.`,
  ),
  'argument.not_list': reason<{ call: string; of: string; value: string }>(
    'invalid_request',
    ({ call, of, value }) => `${call} takes a list of ${of}, not ${value}.`,
  ),
  'request.several_errors': reason<{ count: number }>('invalid_request', () => ''),
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
