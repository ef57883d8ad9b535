interface Line {
  readonly number: number
  readonly indent: number
  readonly text: string
}

/** A value of the YAML that is read here. */
export type Yaml = string | null | readonly Yaml[] | { readonly [name: string]: Yaml }

/**
 * Reads the YAML that the files of deploy/ are written in, and refuses any other: maps and lists by indent, lists in
 * brackets, quoted and plain texts. Every scalar is a text. Small on purpose: it stands guard, it is no parser for all.
 */
export function readYaml(source: string): Yaml {
  const lines = source.split('\n').flatMap((line, index) => {
    const text = line.replace(/(^|\s)#(?:[^"']*|.*[^"'\]])$/, '').trimEnd()
    if (text.trim() === '') return []
    if (text.includes('\t')) throw new Error(`line ${index + 1}: a tab`)
    return [{ number: index + 1, indent: text.search(/\S/), text: text.trim() }]
  })
  const reader = new Reader(lines)
  const value = reader.block(0)
  if (reader.next !== undefined) throw new Error(`line ${reader.next.number}: not understood`)
  return value
}

class Reader {
  readonly #lines: Line[]

  constructor(lines: Line[]) {
    this.#lines = lines
  }

  get next(): Line | undefined {
    return this.#lines[0]
  }

  /** The value at this indent: a list, a map, or a single scalar. */
  block(indent: number): Yaml {
    const { next } = this
    if (next === undefined || next.indent < indent) return null
    if (next.text === '-' || next.text.startsWith('- ')) return this.#list(next.indent)
    if (keyOf(next.text) !== null) return this.#map(next.indent)
    this.#lines.shift()
    return scalar(next.text, next.number)
  }

  #list(indent: number): Yaml[] {
    const items: Yaml[] = []
    while (this.next?.indent === indent && this.next.text.startsWith('-')) {
      const { number, text } = this.#lines.shift()!
      const rest = text.slice(1).trimStart()
      // What follows the dash is a nested block at that column.
      if (rest !== '') this.#lines.unshift({ number, indent: indent + text.length - rest.length, text: rest })
      items.push(this.block(indent + 1))
    }
    return items
  }

  #map(indent: number): Record<string, Yaml> {
    const map: Record<string, Yaml> = {}
    while (this.next?.indent === indent) {
      const { number, text } = this.#lines.shift()!
      const key = keyOf(text)
      if (key === null) throw new Error(`line ${number}: a name and a colon were expected`)
      if (Object.hasOwn(map, key)) throw new Error(`line ${number}: ${key} is there twice`)
      const rest = text.slice(text.indexOf(':') + 1).trim()
      map[key] = rest === '' ? this.block(indent + 1) : scalar(rest, number)
    }
    if (this.next !== undefined && this.next.indent > indent)
      throw new Error(`line ${this.next.number}: too deep`)
    return map
  }
}

function keyOf(text: string): string | null {
  return /^([\w.-]+):(?: |$)/.exec(text)?.[1] ?? null
}

function scalar(text: string, number: number): Yaml {
  if (text.startsWith('[') && text.endsWith(']')) {
    const items = text.slice(1, -1).match(/"[^"]*"|[^,\s][^,]*/g) ?? []
    return items.map((item) => scalar(item.trim(), number))
  }
  const quoted = /^(["'])(.*)\1$/.exec(text)
  if (quoted !== null) return quoted[2]!
  if (/^[[\]{}&*!|>%@`"']/.test(text) || /: |:$/.test(text))
    throw new Error(`line ${number}: quote this: ${text}`)
  return text
}
