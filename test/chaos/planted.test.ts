import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PLANTED } from '../interleave/planted.ts'
import { POSTGRES_PLANTED } from './postgres/planted.ts'
import { SQLITE_PLANTED } from './sqlite-planted.ts'

const root = new URL('../../', import.meta.url)

/** The hunts take minutes (`npm run test:planted`, `npm run test:interleave`). This only checks that they can start. */
describe('a planted bug still matches the sources:', () => {
  const all = [
    ...[...SQLITE_PLANTED, ...POSTGRES_PLANTED].map(({ bug, edits }) => ({ bug, edits, under: '' })),
    ...PLANTED.map(({ bug, edits }) => ({ bug, edits, under: 'src/' })),
  ]
  it.each(all)('$bug', ({ edits, under }) => {
    for (const { file, from } of edits)
      expect(readFileSync(new URL(`${under}${file}`, root), 'utf8')).toContain(from)
  })
})
