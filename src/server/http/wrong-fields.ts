import { z } from 'zod'
import { expectation } from '../../contracts/index.ts'
import { display, unknownField as unknownLibraryField, WakefulError } from '../../error.ts'
import { libraryField, type Params, type ParamsOf, type ReasonId } from '../../errors/index.ts'

const ISSUES_MAX = 10

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/** What a contract's own check attaches to its issue: `refine(check, { params })`. */
interface OwnIssue {
  readonly reason?: ReasonId
}

/** What zod found wrong with the input, as one error or several. */
export function wrongFields(error: z.ZodError, schema: z.ZodObject, input: unknown): WakefulError {
  const errors = error.issues.flatMap((issue) => errorsOf(issue, schema, input)).slice(0, ISSUES_MAX)
  const [first] = errors
  if (errors.length === 1) return first!
  return new WakefulError('request.several_errors', { count: errors.length }, { errors })
}

function errorsOf(issue: Issue, schema: z.ZodObject, input: unknown): WakefulError[] {
  const { path } = issue
  const field = path.length === 0 ? undefined : libraryField(pathText(path))
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(shapeOf(schemaAt(schema, path)))
    const keys = issue.keys.slice(0, ISSUES_MAX)
    // Several have the list of known names once, after the last.
    return keys.map((key, at) => unknownField(key, known, field, at === keys.length - 1))
  }
  const value = valueAt(input, path)
  const at = schemaAt(schema, path)
  if (path.length > 0 && value === undefined)
    return [new WakefulError('field.required', { expected: requiredAs(at, issue) }, { field })]
  return [wrongValue(issue, value, at, field)]
}

/** An unknown field, by the names of the wire. */
export function unknownField(
  key: string,
  known: readonly string[],
  field?: string,
  isListed = true,
): WakefulError {
  const { other, ...params } = unknownLibraryField(key, known).params as ParamsOf<'field.unknown'>
  return new WakefulError(
    'field.unknown',
    {
      ...params,
      fields: isListed ? known.map(libraryField) : [],
      other: other === null ? null : libraryField(other),
    },
    { field },
  )
}

function wrongValue(
  issue: Issue,
  value: unknown,
  schema: z.core.$ZodType | null,
  field: string | undefined,
): WakefulError {
  const at = { field }
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(value, [issue.expected], schema, field)
    case 'invalid_union':
      return wrongType(value, issue.errors.flat().flatMap(expectedOf), schema, field)
    case 'invalid_value':
      return new WakefulError(
        'field.not_one_of',
        { allowed: issue.values.map(String), value: display(value) },
        at,
      )
    case 'too_small': {
      const [min, inclusive] = [Number(issue.minimum), issue.inclusive === true]
      const unit = UNITS[issue.origin]
      if (unit === undefined) return new WakefulError('field.too_small', { min, inclusive }, at)
      if (value === '') return new WakefulError('field.empty', {}, at)
      return new WakefulError('field.too_few', { min, unit }, at)
    }
    case 'too_big': {
      const [max, inclusive] = [Number(issue.maximum), issue.inclusive === true]
      const unit = UNITS[issue.origin]
      if (unit === undefined) return new WakefulError('field.too_large', { max, inclusive }, at)
      return new WakefulError('field.too_many', { max, unit }, at)
    }
    case 'custom': {
      const { reason } = (issue.params ?? {}) as OwnIssue
      if (reason !== undefined) return WakefulError.from({ ...NO_PARAMS, reason, field })
      break
    }
    case 'invalid_format':
      return new WakefulError('field.malformed', { expected: `a valid ${issue.format}` }, at)
    case 'not_multiple_of':
      return new WakefulError('field.malformed', { expected: `a multiple of ${issue.divisor}` }, at)
  }
  return new WakefulError('field.invalid', { expected: 'valid', value: display(value) }, at)
}

const NO_PARAMS: { code: 'invalid_request'; params: Params; message: string } = {
  code: 'invalid_request',
  params: {},
  message: '',
}

/** What is counted where a value is too small or too big; numbers are compared themselves. */
const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item', set: 'item' }

function wrongType(
  value: unknown,
  expected: readonly string[],
  schema: z.core.$ZodType | null,
  field: string | undefined,
): WakefulError {
  // Programs and models write 300 for five minutes.
  const kind = typeof value === 'number' && schema !== null ? expectation.get(schema)?.kind : undefined
  if (kind === 'duration') {
    const seconds = Number.isSafeInteger(value) && Number(value) >= 0 ? value : 90
    return new WakefulError('field.without_unit', { example: `${seconds}s` }, { field })
  }
  if (kind === 'instant')
    return new WakefulError(
      'instant.bare_number',
      { value: display(value) },
      { field, code: 'invalid_request' },
    )
  const words = [...new Set(expected.map((type) => TYPES[type] ?? type))]
  return new WakefulError(
    'field.invalid',
    { expected: words.length === 0 ? 'of another type' : words.join(' or '), value: typeName(value) },
    { field },
  )
}

function expectedOf(issue: Issue): string[] {
  return issue.code === 'invalid_type' ? [issue.expected] : []
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (Number.isNaN(value)) return 'NaN'
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** What a required field is: in the words of the reference, else by its type. */
function requiredAs(schema: z.core.$ZodType | null, issue: Issue): string {
  const description = schema instanceof z.ZodType ? schema.description : undefined
  if (description !== undefined) return description
  const [type] = expectedOf(issue)
  return type === undefined ? '' : `It must be ${TYPES[type] ?? type}.`
}

function schemaAt(schema: z.core.$ZodType, path: Path): z.core.$ZodType | null {
  const [first, ...rest] = path
  const inside = unwrapped(schema)
  if (first === undefined) return inside
  if (inside instanceof z.ZodArray) return schemaAt(inside.element, rest)
  const member = shapeOf(inside)[String(first)]
  return member === undefined ? null : rest.length === 0 ? unwrapped(member) : schemaAt(member, rest)
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
    ? unwrapped(schema.unwrap())
    : schema
}

function shapeOf(schema: z.core.$ZodType | null): z.core.$ZodShape {
  return schema instanceof z.ZodObject ? schema.shape : {}
}

function valueAt(input: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, name) => (value as Record<PropertyKey, unknown> | null)?.[name], input)
}

/** A path as one would write it: `items[1].dst.gap`. */
function pathText(path: Path): string {
  return path
    .map((name, at) => (typeof name === 'number' ? `[${name}]` : at === 0 ? name : `.${String(name)}`))
    .join('')
}
