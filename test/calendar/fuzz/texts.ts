import type { Random } from '../../random.ts'
import { pick } from './subject.ts'

/** How texts of one language are generated: valid ones, and their tokens. */
export interface Language {
  valid(random: Random): string
  readonly pieces: readonly string[]
}

const LETTERS = 'aeimnorstuvwxydPTZWLHMS0123456789:.,;/-+*#?=@[]()"\' \t\n\u0000\u00a0\u0130'
/** Code point ranges of scripts, spaces, signs and surrogates that confuse parsers. */
const UNICODE: readonly (readonly [low: number, high: number])[] = [
  [0x00, 0x7f],
  [0x80, 0x24f],
  [0x300, 0x36f],
  [0x660, 0x669],
  [0x2000, 0x206f],
  [0xd800, 0xdfff],
  [0xfe00, 0xffff],
  [0x1f300, 0x1f6ff],
]
const JUNK = [
  '__proto__',
  'constructor',
  'toString',
  'null',
  'NaN',
  '-0',
  '1e400',
  '0x10',
  '٣',
  '５',
  '🕰',
  'ﬁ',
  '\ufeff',
]
const FORCES_BACKTRACKING = ['', '', 'x', '!', ' ', '-', '\u0000']
/** The maximum length of texts; a few are far longer, to be refused before any pattern runs on them. */
const LENGTH_MAX = 1000
const LENGTH_HUGE = 200_000

/** A random text: a valid one, a damaged one, its tokens in any order, noise, or an attack. */
export function textFrom(random: Random, language: Language): string {
  return random.weighted<() => string>([
    [6, () => language.valid(random)],
    [6, () => damaged(random, language)],
    [3, () => pieces(random, language)],
    [1, () => letters(random)],
    [1, () => unicode(random)],
    [2, () => repeated(random, language)],
    [0.05, () => huge(random, language)],
  ])()
}

function damaged(random: Random, language: Language): string {
  let text = language.valid(random)
  for (let times = random.between(1, 3); times > 0; times--) {
    const at = random.between(0, text.length)
    const cut = random.chance(0.5) ? random.between(0, 4) : 0
    text = text.slice(0, at) + put(random, language, text) + text.slice(at + cut)
  }
  return text
}

/** What is inserted into a text: nothing, a token, a character, junk, or a part of the text itself. */
function put(random: Random, { pieces: known }: Language, text: string): string {
  const from = random.between(0, text.length)
  return random.weighted<() => string>([
    [3, () => ''],
    [4, () => pick(random, known)],
    [4, () => pick(random, LETTERS)],
    [1, () => pick(random, JUNK)],
    [1, () => text.slice(from, from + random.between(1, 12))],
    [1, () => (random.chance(0.5) ? text.toUpperCase() : ` ${text}`)],
  ])()
}

function pieces(random: Random, language: Language): string {
  const joint = pick(random, [' ', ' ', ' ', '', ',', ';'])
  const all = [...language.pieces, ...(random.chance(0.2) ? JUNK : [])]
  return Array.from({ length: random.between(0, 12) }, () => pick(random, all)).join(joint)
}

function letters(random: Random): string {
  return Array.from({ length: random.between(0, 60) }, () => pick(random, LETTERS)).join('')
}

function unicode(random: Random): string {
  return Array.from({ length: random.between(0, 40) }, () => {
    const [low, high] = pick(random, UNICODE)
    return String.fromCodePoint(random.between(low, high))
  }).join('')
}

/** One token repeated, mostly up to the maximum length, on which a bad pattern backtracks. */
function repeated(random: Random, language: Language): string {
  const token = random.chance(0.6) ? pick(random, language.pieces) : pick(random, LETTERS)
  const joint = pick(random, ['', '', ' ', ',', ', ', '/', '-', ' and ', '\n'])
  const before = random.chance(0.4) ? `${language.valid(random)}${pick(random, ['', ' ', ','])}` : ''
  const length = random.chance(0.7) ? LENGTH_MAX - 1 : random.between(1, LENGTH_MAX)
  const often = Math.ceil(length / (token.length + joint.length || 1))
  return (before + `${token}${joint}`.repeat(often)).slice(0, length) + pick(random, FORCES_BACKTRACKING)
}

function huge(random: Random, language: Language): string {
  const text = random.chance(0.5) ? pick(random, language.pieces) : language.valid(random)
  return `${text} `.repeat(Math.ceil(random.between(LENGTH_MAX, LENGTH_HUGE) / (text.length + 1)))
}
