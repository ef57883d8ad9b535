const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const WIDE =
  /^(?:\p{Emoji_Presentation}|\p{RI}|.*\u{FE0F}|[\u{1100}-\u{115F}\u{2E80}-\u{303E}\u{3041}-\u{A4CF}\u{AC00}-\u{D7A3}\u{F900}-\u{FAFF}\u{FE30}-\u{FE6F}\u{FF00}-\u{FF60}\u{FFE0}-\u{FFE6}\u{20000}-\u{3FFFD}])/u
const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}]+$/u
/** Control characters, and those that reverse the direction of what follows them. */
const UNSAFE = /[\p{Cc}\u{2028}\u{2029}\u{202A}-\u{202E}\u{2066}-\u{2069}]/gu
const SHORT: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** The number of terminal columns of a text. */
export function textWidth(text: string): number {
  // Most text is plain ASCII, and segmenting is a hundred times slower.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += widthOf(segment)
  return width
}

/** The text cut to a width, with an ellipsis. */
export function cut(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  let kept = ''
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    used += widthOf(segment)
    if (used > width - 1) break
    kept += segment
  }
  return width < 1 ? '' : `${kept}…`
}

/** The text wrapped at spaces to a width, with all lines but the first indented. A width of null wraps nothing. */
export function wrap(text: string, width: number | null, indent: string): string {
  if (width === null || textWidth(text) <= width) return text
  const lines: string[] = []
  const [first, ...words] = text.split(' ') as [string, ...string[]]
  let line = first
  for (const word of words) {
    if (line.trim() !== '' && textWidth(line) + 1 + textWidth(word) > width) {
      lines.push(line)
      line = indent + word
    } else line = `${line} ${word}`
  }
  return [...lines, line].join('\n')
}

/** The text padded with spaces to a width. */
export function pad(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const fill = ' '.repeat(Math.max(0, width - textWidth(text)))
  return side === 'left' ? text + fill : fill + text
}

/** A user's text on one line, with control characters escaped, so that a label cannot control the terminal. */
export function oneLine(text: string): string {
  return text.replace(UNSAFE, (char) => SHORT[char] ?? `\\u{${char.codePointAt(0)!.toString(16)}}`)
}

function widthOf(grapheme: string): number {
  if (INVISIBLE.test(grapheme)) return 0
  return WIDE.test(grapheme) ? 2 : 1
}

/** A number with thousands separators. */
export function count(value: number): string {
  return value.toLocaleString('en-US')
}

/** A number with its noun: '1 day', '400 days'. */
export function counted(value: number, what: string): string {
  return `${count(value)} ${what}${value === 1 ? '' : 's'}`
}
