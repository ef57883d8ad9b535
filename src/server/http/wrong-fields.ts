import { z } from 'zod'
import { type FieldError, InvalidRequest } from './problem.ts'

const ISSUES_TOLD_MAX = 10

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/** What zod found wrong, in words: unknown fields with those that are known there, missing ones with what they are. */
export function refuse(error: z.ZodError, schema: z.ZodObject, given: unknown): InvalidRequest {
  const wrongs = error.issues.slice(0, ISSUES_TOLD_MAX).map((issue) => wrongOf(issue, schema, given))
  return new InvalidRequest(
    wrongs.flatMap(({ errors }) => errors),
    wrongs.map(({ said }) => said).join('; '),
  )
}

interface Wrong {
  /** All of it, with its place. */
  readonly said: string
  readonly errors: readonly FieldError[]
}

function wrongOf(issue: Issue, schema: z.ZodObject, given: unknown): Wrong {
  const { path } = issue
  const field = fieldOf(path)
  if (issue.code === 'unrecognized_keys') return unknownFields(issue.keys, path, schema)
  if (path.length > 0 && valueAt(given, path) === undefined) {
    const detail = `is missing: ${requiredAs(schemaAt(schema, path), issue)}`
    return { said: `${field} ${detail}`, errors: [{ field, detail }] }
  }
  const detail = lowered(issue.message)
  return { said: field === '' ? detail : `${field}: ${detail}`, errors: [{ field, detail }] }
}

function unknownFields(keys: readonly string[], path: Path, schema: z.ZodObject): Wrong {
  const names = keys.slice(0, ISSUES_TOLD_MAX).map((key) => key.slice(0, 60))
  const known = Object.keys(shapeOf(schemaAt(schema, path)))
  const advice = known.length === 0 ? '' : `; known are ${known.join(', ')}`
  const shown = names.map((name) => JSON.stringify(name)).join(', ')
  const place = path.length === 0 ? '' : `${fieldOf(path)}: `
  return {
    said: `${place}unknown field${names.length === 1 ? '' : 's'} ${shown}${advice}`,
    errors: names.map((name) => ({ field: fieldOf([...path, name]), detail: `unknown field${advice}` })),
  }
}

/** What a required field is: in the words of the reference, else by its type. */
function requiredAs(schema: z.core.$ZodType | null, { message }: Issue): string {
  const description = schema instanceof z.ZodType ? schema.description : undefined
  if (description === undefined) return lowered(message).replace(/, received undefined$/, '')
  return lowered(description).replace(/\.$/, '')
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

function valueAt(given: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, name) => (value as Record<PropertyKey, unknown> | null)?.[name], given)
}

/** A place as one would write it: `items[1].dst.gap`. */
function fieldOf(path: Path): string {
  return path
    .map((name, at) => (typeof name === 'number' ? `[${name}]` : at === 0 ? name : `.${String(name)}`))
    .join('')
}

/** What zod says, as part of a sentence. */
export function lowered(message: string): string {
  return message
    .replace(/^Invalid (?:input|option): /, '')
    .replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase())
}
