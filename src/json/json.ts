import { errorText, WakefulError } from '../errors/core.ts'

/** Deeper than anybody writes by hand, and far from where a reader of nested values could be hurt. */
const DEPTH_MAX = 100

const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
/** What a string may hold as it is: all but control characters, quotes and backslashes. */
const PLAIN = /[ !#-[\]-\uffff]*/y

/** JSON text given as it is, so that numbers beyond 2^53 and key order survive. */
export class RawJson {
  readonly text: string

  constructor(text: string, field?: string) {
    if (!text.isWellFormed()) throw new WakefulError('field.lone_surrogate', {}, { field })
    try {
      JSON.parse(text)
    } catch (cause) {
      throw new WakefulError('json.invalid', { cause: errorText(cause) }, { cause, field })
    }
    this.text = text
  }
}

/** Wraps JSON text so that it is stored byte for byte. */
export function rawJson(text: string): RawJson {
  return new RawJson(text)
}

/** The JSON text of a field: what was given as text is that text, and what JSON cannot say is refused. */
export function jsonText(payload: unknown, field?: string): string {
  if (payload instanceof RawJson) return payload.text
  let text: string | undefined
  try {
    text = JSON.stringify(payload)
  } catch (cause) {
    throw new WakefulError('json.unwritable', { cause: errorText(cause) }, { cause, field })
  }
  if (text === undefined) throw new WakefulError('json.no_value', { type: typeof payload }, { field })
  if (text.includes('null')) refuseNonFinite(payload, field)
  return text
}

/** JSON writes NaN and infinities as null: what would come back is not what was given. */
function refuseNonFinite(payload: unknown, field: string | undefined): void {
  JSON.stringify(payload, (name, value: unknown) => {
    if (typeof value !== 'number' || Number.isFinite(value)) return value
    throw new WakefulError('json.not_finite', { value: String(value), name: name || null }, { field })
  })
}

/** The proposal "JSON.parse source text access", which TypeScript has no types for yet. */
const { parse, rawJSON } = JSON as unknown as {
  parse(
    text: string,
    reviver: (name: string, value: unknown, context?: { source?: string }) => unknown,
  ): unknown
  rawJSON?(text: string): unknown
}

/** Parses JSON so that it can be written again with every digit of its numbers, if the runtime has `JSON.rawJSON`. */
export function parseExact(text: string): unknown {
  return parse(text, (_, value, context) =>
    typeof value === 'number' && context?.source !== undefined && rawJSON !== undefined
      ? rawJSON(context.source)
      : value,
  )
}

/**
 * Which members are kept as the text they are, by where they stand: those named `true`, and those named within others. An
 * item of a list stands where its list does.
 */
export interface Verbatim {
  readonly [name: string]: true | Verbatim
}

const NOTHING: Verbatim = {}

/**
 * Reads JSON as `JSON.parse` does, and beside it: members that are to come back byte for byte (promise: verbatim) are
 * kept as the text they are, a name appears twice is refused instead of half lost, and nesting has a bound.
 */
export function readJson(
  text: string,
  verbatim: Verbatim = NOTHING,
  { depthMax = DEPTH_MAX, what = 'body' }: { readonly depthMax?: number; readonly what?: string } = {},
): unknown {
  return new Reader(text, depthMax, what).whole(verbatim)
}

class Reader {
  readonly #text: string
  readonly #depthMax: number
  /** What the text is to whoever sent it. */
  readonly #what: string
  #at = 0
  /** Within a member that is kept as it is: its own names are its own affair. */
  #isKept = false

  constructor(text: string, depthMax: number, what: string) {
    this.#text = text
    this.#depthMax = depthMax
    this.#what = what
  }

  whole(verbatim: Verbatim): unknown {
    const value = this.#value(0, verbatim)
    if (this.#next() !== '') throw this.#wrong('the end of the text')
    return value
  }

  #value(depth: number, verbatim: Verbatim): unknown {
    const first = this.#next()
    if (first === '"') return this.#string()
    if (first !== '{' && first !== '[') return this.#scalar()
    if (depth >= this.#depthMax) throw new WakefulError('json.too_deep', { max: this.#depthMax })
    return first === '{' ? this.#object(depth, verbatim) : this.#list(depth, verbatim)
  }

  #object(depth: number, verbatim: Verbatim): Record<string, unknown> {
    const fields: Record<string, unknown> = {}
    this.#at += 1
    if (this.#next() === '}') {
      this.#at += 1
      return fields
    }
    for (;;) {
      if (this.#next() !== '"') throw this.#wrong('a name in quotes')
      const name = this.#string()
      if (!this.#isKept && Object.hasOwn(fields, name))
        throw new WakefulError('json.name_twice', { name: quoted(name) })
      this.#expect(':', 'a colon')
      const value = this.#member(depth + 1, name, Object.hasOwn(verbatim, name) ? verbatim[name]! : NOTHING)
      // Assigned as its own: `__proto__` is a name like any other, and refused like any other that is not known.
      if (name === '__proto__')
        Object.defineProperty(fields, name, { value, enumerable: true, configurable: true, writable: true })
      else fields[name] = value
      if (this.#goesOn('}')) continue
      return fields
    }
  }

  #member(depth: number, name: string, verbatim: true | Verbatim): unknown {
    if (verbatim !== true) return this.#value(depth, verbatim)
    this.#next()
    const from = this.#at
    this.#isKept = true
    this.#value(depth, NOTHING)
    this.#isKept = false
    return new RawJson(this.#text.slice(from, this.#at), name)
  }

  #list(depth: number, verbatim: Verbatim): unknown[] {
    const items: unknown[] = []
    this.#at += 1
    if (this.#next() === ']') {
      this.#at += 1
      return items
    }
    do items.push(this.#value(depth + 1, verbatim))
    while (this.#goesOn(']'))
    return items
  }

  /** Past a comma, or past the end. */
  #goesOn(end: '}' | ']'): boolean {
    const next = this.#next()
    if (next !== ',' && next !== end) throw this.#wrong(`a comma or ${end}`)
    this.#at += 1
    return next === ','
  }

  #string(): string {
    const text = this.#text
    const from = this.#at
    let at = this.#plainEnd(from + 1)
    const isPlain = text[at] !== '\\'
    while (text[at] === '\\') at = this.#plainEnd(at + 2)
    if (text[at] !== '"') {
      this.#at = Math.min(at, text.length)
      const isOver = at >= text.length
      throw this.#wrong(isOver ? 'the end of a string' : 'an escape sequence instead of a control character')
    }
    this.#at = at + 1
    if (isPlain) return text.slice(from + 1, at)
    try {
      return JSON.parse(text.slice(from, at + 1)) as string
    } catch {
      this.#at = from
      throw this.#wrong('a string with valid escape sequences')
    }
  }

  #plainEnd(from: number): number {
    PLAIN.lastIndex = from
    return PLAIN.test(this.#text) ? PLAIN.lastIndex : from
  }

  #scalar(): unknown {
    SCALAR.lastIndex = this.#at
    const found = SCALAR.exec(this.#text)?.[0]
    if (found === undefined) throw this.#wrong('a value')
    this.#at += found.length
    const number = Number(found)
    return Number.isNaN(number) ? JSON.parse(found) : number
  }

  #expect(mark: string, what: string): void {
    if (this.#next() !== mark) throw this.#wrong(what)
    this.#at += 1
  }

  /** The next character that is not space; empty at the end. */
  #next(): string {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return this.#text.charAt(this.#at)
      this.#at += 1
    }
  }

  #wrong(expected: string): WakefulError {
    const at = this.#at
    const found = at >= this.#text.length ? null : quoted(this.#text.slice(at, at + 20))
    return new WakefulError('json.syntax', { what: this.#what, at, expected, found })
  }
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}
