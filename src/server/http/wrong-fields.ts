import { z } from 'zod'
import { editBodies } from '../../contracts/index.ts'
import { display, typeName, WakefulError } from '../../error.ts'
import { libraryField, unknownWireField } from '../../errors/index.ts'

const ISSUES_MAX = 10

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/** What the contract attaches to the issue of a check that it shares with the library. */
interface OwnIssue {
  readonly error?: WakefulError
}

/** What zod found wrong with an input, which it must have reported, as one error or several. */
export function wrongFields(error: z.ZodError, schema: z.ZodObject): WakefulError {
  const errors = error.issues.flatMap((issue) => errorsOf(issue, schema)).slice(0, ISSUES_MAX)
  const [first] = errors
  if (errors.length === 1) return first!
  return new WakefulError('request.several_errors', { count: errors.length }, { errors })
}

function errorsOf(issue: Issue, schema: z.ZodObject): WakefulError[] {
  const { path, input } = issue
  const field = path.length === 0 ? undefined : libraryField(pathText(path))
  if (issue.code === 'unrecognized_keys') {
    const inside = schemaAt(schema, path)
    const known = Object.keys(shapeOf(inside))
    const keys = issue.keys.slice(0, ISSUES_MAX)
    // Several have the list of known names once, after the last.
    return keys.map((key, at) => unknownName(inside, key, known, field, at === keys.length - 1))
  }
  const at = schemaAt(schema, path)
  if (path.length > 0 && input === undefined)
    return [new WakefulError('field.required', { expected: requiredAs(at, issue) }, { field })]
  return [wrongValue(issue, input, field)]
}

/** A name that the call does not take: one that only a new alarm has, or one that nobody knows. */
function unknownName(
  body: z.core.$ZodType | null | undefined,
  name: string,
  known: readonly string[],
  field?: string,
  isListed = true,
): WakefulError {
  const { immutable } = (body instanceof z.ZodType && editBodies.get(body)) || { immutable: [] }
  return immutable.includes(name)
    ? new WakefulError('field.immutable', {}, { field: libraryField(name) })
    : unknownWireField(name, known, field, isListed)
}

function wrongValue(issue: Issue, value: unknown, field: string | undefined): WakefulError {
  const at = { field }
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(value, [issue.expected], field)
    case 'invalid_union':
      return wrongType(value, issue.errors.flat().flatMap(expectedOf), field)
    case 'invalid_value':
      if (isAcross(field, issue.values)) {
        const header = field === 'owner' ? 'Wakeful-Owner' : 'Wakeful-Tenant'
        return new WakefulError('access.names_one', { value: display(value), header }, at)
      }
      return new WakefulError(
        'field.not_one_of',
        { allowed: issue.values.map(String), value: display(value) },
        at,
      )
    case 'custom': {
      const { error } = (issue.params ?? {}) as OwnIssue
      if (error !== undefined) return error.with(at)
      break
    }
    case 'invalid_format':
      return new WakefulError('field.malformed', { expected: issue.message }, at)
  }
  return new WakefulError('field.invalid', { expected: 'valid', value: display(value) }, at)
}

/** Whether a query takes only `owner=*` or `tenant=*`: one of them is named by a header. */
function isAcross(field: string | undefined, values: readonly unknown[]): boolean {
  return (field === 'owner' || field === 'tenant') && values.length === 1 && values[0] === '*'
}

function wrongType(value: unknown, expected: readonly string[], field: string | undefined): WakefulError {
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
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
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
  return member === undefined ? null : schemaAt(member, rest)
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
    ? unwrapped(schema.unwrap())
    : schema
}

function shapeOf(schema: z.core.$ZodType | null): z.core.$ZodShape {
  return schema instanceof z.ZodObject ? schema.shape : {}
}

/** A path as one would write it: `items[1].dst.gap`. */
function pathText(path: Path): string {
  return path
    .map((name, at) => (typeof name === 'number' ? `[${name}]` : at === 0 ? name : `.${String(name)}`))
    .join('')
}
