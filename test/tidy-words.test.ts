import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** Words that this code base once used in a meaning of its own. They are retired everywhere. */
const RETIRED_WORDS: ReadonlySet<string> = new Set(
  `ambush befall befalls befell courier crew desk diary disown disowned errand errands flights guests hamlet hazard hazards
  lookout lookouts office offices pacer rouse roused shelf shelves snoop strikes surroundings switchboard workshop`.split(
    /\s+/,
  ),
)
/** Words that are plain English in a sentence and say nothing as a name in code. */
const RETIRED_NAMES: ReadonlySet<string> = new Set(
  'flight given guest hands heard held said shown spoken strike taken taking told trouble twins weather'.split(
    ' ',
  ),
)
/** This list itself, what was written before, and what reads it. */
const WORDS_EXEMPT =
  /^test\/tidy-words\.test\.ts$|^CHANGELOG\.md$|\/fixtures\/|\/export-format\.ts$|\/moving\.test\.ts$/

it('the words are those that other schedulers use', () => {
  const tracked = execFileSync('git', ['ls-files', '*.ts', '*.js', '*.md', '*.sql'], { encoding: 'utf8' })
  const files = tracked.split('\n').filter((path) => path !== '' && !WORDS_EXEMPT.test(path))
  const wrong = files.flatMap((path) => {
    const text = readFileSync(path, 'utf8')
    const code = /\.[jt]s$/.test(path) ? withoutText(text).split('\n') : []
    return text.split('\n').flatMap((line, at) => {
      const words = wordsOf(line).filter((word) => RETIRED_WORDS.has(word))
      const names = wordsOf(code[at] ?? '').filter((word) => RETIRED_NAMES.has(word))
      return [...words, ...names].map((word) => `${path}:${at + 1} says "${word}": see CONTRIBUTING, Names`)
    })
  })
  expect(wrong).toEqual([])
})

/** The words of a text in lower case, with `nextWake` and `next_wake` split in two. "In flight" is one word. */
function wordsOf(text: string): string[] {
  const split = text.replace(/in[ _-]?flight/gi, ' ').replace(/([a-z])([A-Z])/g, '$1 $2')
  return (split.match(/[A-Za-z]+/g) ?? []).map((word) => word.toLowerCase())
}

/** Code without its comments and strings, each line still at its place. */
function withoutText(code: string): string {
  return code
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/\/\/.*/g, '')
    .replace(/`(?:[^`\\]|\\.)*`/g, (template) => template.replace(/[^\n]/g, ' '))
    .replace(/'(?:[^'\\\n]|\\.)*'/g, "''")
}
