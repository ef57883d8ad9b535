import { type Snapshot, utf8Length } from '../alarm/index.ts'

/** A page ends with the item that brings its content to this size, whatever its limit. */
export const PAGE_BYTES_MAX = 4 * 2 ** 20
/** A page of the log is smaller: every slow follower keeps one in memory, and there may be many followers. */
export const LOG_BYTES_MAX = 64 * 2 ** 10
// biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for control characters.
const ESCAPED = /[\u0000-\u001f"\\]/
/** The size of an item without its texts. */
const ITEM_BYTES = 1_000

/** Limits a page by its number of items and by their size. */
export class PageLimit {
  readonly #limit: number
  readonly #bytesMax: number
  #items = 0
  #bytes = 0

  constructor(limit: number, bytesMax = PAGE_BYTES_MAX) {
    this.#limit = limit
    this.#bytesMax = bytesMax
  }

  /** Counts one more item; false if the page is full. */
  add(bytes: number): boolean {
    if (this.#items === this.#limit || this.#bytes >= this.#bytesMax) return false
    this.#items += 1
    this.#bytes += bytes
    return true
  }
}

/** About how many bytes an alarm adds to a page. */
export function bytesOf({ alarm, outcome }: Snapshot): number {
  const { payload, message, target, rule, notes } = alarm
  const json = [payload ?? '']
  if (target.config !== undefined) json.push(JSON.stringify(target.config))
  const texts = [message, outcome?.result ?? '', outcome?.lastError ?? '', ...notes]
  if (rule.kind === 'rrule') texts.push(rule.rrule)
  return [...json, ...texts.map(escaped)].reduce((sum, text) => sum + utf8Length(text), ITEM_BYTES)
}

/** As in JSON, where a control character takes six bytes. */
function escaped(text: string): string {
  return ESCAPED.test(text) ? JSON.stringify(text) : text
}

/** Whether a page of the log was cut, so that there may be more. */
export function isCut(events: readonly { readonly data: string }[], limit: number): boolean {
  return events.length === limit || dataBytes(events) >= LOG_BYTES_MAX
}

function dataBytes(events: readonly { readonly data: string }[]): number {
  return events.reduce((sum, { data }) => sum + utf8Length(data), 0)
}
