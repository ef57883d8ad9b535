import { readFileSync } from 'node:fs'
import { parseAst } from 'rolldown/parseAst'
import { expect, it } from 'vitest'
import { sourceFiles } from '../../tools/source-files.ts'

interface Node {
  readonly type: string
  readonly await?: boolean
  readonly kind?: string
}

/** Functions and classes, which have their own `await`. */
const INNER = /Function|^(?:MethodDefinition|PropertyDefinition|StaticBlock)$/

it('no file that an entry point may load awaits at its top level, so that each can be required', () => {
  const awaiting = sourceFiles(['src'])
    .filter(({ path }) => !path.startsWith('src/cli/') && !path.endsWith('.test.ts'))
    .filter(({ path }) => awaitsAtTop(readFileSync(path, 'utf8')))
  expect(awaiting.map(({ path }) => path)).toEqual([])
})

it.each([
  ['const a = await b', true],
  ['for await (const a of b) c()', true],
  ['if (a) { await using b = c }', true],
  ['async function a() { await b }', false],
  ['class A { async b() { await c } }', false],
  ['const a = { b: async () => await c }', false],
])('sees that %j awaits at its top level: %j', (code, expected) => {
  expect(awaitsAtTop(code)).toBe(expected)
})

function awaitsAtTop(code: string): boolean {
  return awaits(parseAst(code, { lang: 'ts', sourceType: 'module' }))
}

function awaits(part: unknown): boolean {
  if (Array.isArray(part)) return part.some(awaits)
  if (typeof part !== 'object' || part === null) return false
  const { type = '', await: isAwaited, kind } = part as Partial<Node>
  if (INNER.test(type)) return false
  return (
    type === 'AwaitExpression' ||
    isAwaited === true ||
    kind === 'await using' ||
    Object.values(part).some(awaits)
  )
}
