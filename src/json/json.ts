import { errorText, WakefulError } from '../errors/core.ts'

/** Deeper than anybody writes by hand, and far from where a reader of nested values could be hurt. */
const DEPTH_MAX = 100
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const COLON = 0x3a
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORDS: readonly (readonly [string, unknown])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
]

/** JSON text given as it is, so that numbers beyond 2^53 and key order survive. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    if (!text.isWellFormed()) throw new WakefulError('json.lone_surrogate', { what: 'payload' })
    try {
      JSON.parse(text)
    } catch (cause) {
      throw new WakefulError('json.invalid', { what: 'payload', cause: errorText(cause) }, { cause })
    }
    this.text = text
  }
}

/** Wraps JSON text so that it is stored byte for byte. */
export function rawJson(text: string): RawJson {
  return new RawJson(text)
}

/** The JSON text of a payload: what was given as text is that text, and what JSON cannot say is refused. */
export function jsonText(payload: unknown): string {
  if (payload instanceof RawJson) return payload.text
  let text: string | undefined
  try {
    text = JSON.stringify(payload)
  } catch (cause) {
    throw new WakefulError('json.unwritable', { what: 'payload', cause: errorText(cause) }, { cause })
  }
  if (text === undefined) throw new WakefulError('json.no_value', { what: 'payload', type: typeof payload })
  if (text.includes('null')) refuseNonFinite(payload)
  return text
}

/** JSON writes NaN and infinities as null: what would come back is not what was given. */
function refuseNonFinite(payload: unknown): void {
  JSON.stringify(payload, (name, value: unknown) => {
    if (typeof value !== 'number' || Number.isFinite(value)) return value
    throw new WakefulError('json.not_finite', { what: 'payload', value: String(value), name: name || null })
  })
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
    this.#space()
    if (this.#at < this.#text.length) throw this.#wrong('the end of the text')
    return value
  }

  #value(depth: number, verbatim: Verbatim): unknown {
    this.#space()
    const code = this.#text.charCodeAt(this.#at)
    if (code === QUOTE) return this.#string()
    if (depth >= this.#depthMax && (code === OPEN_BRACE || code === OPEN_BRACKET))
      throw new WakefulError('json.too_deep', { max: this.#depthMax })
    if (code === OPEN_BRACE) return this.#object(depth, verbatim)
    if (code === OPEN_BRACKET) return this.#list(depth, verbatim)
    if (code === MINUS || (code >= ZERO && code <= NINE)) return this.#number()
    for (const [word, value] of WORDS) {
      if (!this.#text.startsWith(word, this.#at)) continue
      this.#at += word.length
      return value
    }
    throw this.#wrong('a value')
  }

  #object(depth: number, verbatim: Verbatim): Record<string, unknown> {
    const fields: Record<string, unknown> = {}
    this.#at += 1
    if (this.#next() === CLOSE_BRACE) {
      this.#at += 1
      return fields
    }
    for (;;) {
      if (this.#next() !== QUOTE) throw this.#wrong('a name in quotes')
      const name = this.#string()
      if (!this.#isKept && Object.hasOwn(fields, name))
        throw new WakefulError('json.name_twice', { name: quoted(name) })
      this.#expect(COLON, 'a colon')
      const value = this.#member(depth + 1, Object.hasOwn(verbatim, name) ? verbatim[name]! : NOTHING)
      // Assigned as its own: `__proto__` is a name like any other, and refused like any other that is not known.
      if (name === '__proto__')
        Object.defineProperty(fields, name, { value, enumerable: true, configurable: true, writable: true })
      else fields[name] = value
      if (this.#goesOn(CLOSE_BRACE)) continue
      return fields
    }
  }

  #member(depth: number, verbatim: true | Verbatim): unknown {
    if (verbatim !== true) return this.#value(depth, verbatim)
    this.#space()
    const from = this.#at
    this.#isKept = true
    this.#value(depth, NOTHING)
    this.#isKept = false
    return new RawJson(this.#text.slice(from, this.#at))
  }

  #list(depth: number, verbatim: Verbatim): unknown[] {
    const items: unknown[] = []
    this.#at += 1
    if (this.#next() === CLOSE_BRACKET) {
      this.#at += 1
      return items
    }
    do items.push(this.#value(depth + 1, verbatim))
    while (this.#goesOn(CLOSE_BRACKET))
    return items
  }

  /** Past a comma, or past the end. */
  #goesOn(end: number): boolean {
    const code = this.#next()
    if (code !== COMMA && code !== end)
      throw this.#wrong(end === CLOSE_BRACE ? 'a comma or }' : 'a comma or ]')
    this.#at += 1
    return code === COMMA
  }

  #string(): string {
    const text = this.#text
    const from = this.#at
    let at = from + 1
    let isPlain = true
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) break
      if (code === BACKSLASH) {
        isPlain = false
        at += 1
      } else if (code < 0x20) {
        this.#at = at
        throw this.#wrong('an escape sequence instead of a control character')
      }
    }
    if (at >= text.length) {
      this.#at = text.length
      throw this.#wrong('the end of a string')
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

  #number(): number {
    NUMBER.lastIndex = this.#at
    const found = NUMBER.exec(this.#text)?.[0]
    if (found === undefined) throw this.#wrong('a number')
    this.#at += found.length
    return Number(found)
  }

  #expect(code: number, what: string): void {
    if (this.#next() !== code) throw this.#wrong(what)
    this.#at += 1
  }

  #next(): number {
    this.#space()
    return this.#text.charCodeAt(this.#at)
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
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
