import { parseExact } from '../json/index.ts'
import type { Rule } from '../time/index.ts'
import type { EventView } from './events/index.ts'

/** A value as JSON on the wire: snake_case keys, instants as ISO text. */
export function wireText(value: unknown): string {
  return JSON.stringify(toWire(value))
}

/** A rule as JSON on the wire, with its instants as ISO text. */
export function wireRule(rule: Rule): Record<string, unknown> {
  const instants: ReadonlySet<string> = new Set(['at', 'anchor', 'start', 'end'])
  return Object.fromEntries(
    Object.entries(rule).map(([name, value]) => [
      name,
      instants.has(name) ? new Date(value as number) : value,
    ]),
  )
}

/** An event as JSON on the wire, its data as it was written (promise: verbatim). */
export function eventWire({ data, dataJson, ...event }: EventView): string {
  return `${wireText(event).slice(0, -1)},"data":${dataJson}}`
}

/** A JSON object's text with more fields at its end: its own text is kept as it is (promise: verbatim). */
export function withFields(objectText: string, fields: Readonly<Record<string, unknown>>): string {
  const more = JSON.stringify(fields).slice(1, -1)
  if (more === '') return objectText
  const body = objectText.trimEnd().slice(0, -1)
  return `${body}${body.trim() === '{' ? '' : ','}${more}}`
}

/** JSON text on one line, every digit kept; damaged JSON becomes a string. */
export function oneLineJson(text: string): string {
  try {
    return JSON.stringify(parseExact(text))
  } catch {
    return JSON.stringify(text)
  }
}

function toWire(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map(toWire)
  if (typeof value !== 'object' || value === null) return value
  const fields: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(value)) {
    if (field === undefined) continue
    fields[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = VERBATIM.has(name)
      ? field
      : toWire(field)
  }
  return fields
}

/** What users wrote themselves: their keys are theirs. */
const VERBATIM: ReadonlySet<string> = new Set(['data', 'payload'])
