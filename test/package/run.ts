/** `npm run test:package`: the packed tarball in fresh projects, in every combination. Prints progress, then a table. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Combination, Consumers } from './matrix.ts'
import { packTarball } from './tarball.ts'

const started = performance.now()
const seconds = () => `${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s`
const failures: string[] = []

console.log('packing and installing …')
const packed = mkdtempSync(join(tmpdir(), 'wakeful-packed-'))
const consumers = new Consumers(packTarball(packed).file)
try {
  const parts: Record<string, Combination[]> = {
    'types (a right program compiles, and no wrong call does)': consumers.types(),
    'runs (set, fire, close, virtual clock, texts of errors, no pg)': consumers.runs(),
    'an old Node is refused with a clear error': consumers.refusals(),
  }
  const tables = Object.entries(parts).map(([title, combinations]) => table(title, combinations))
  console.log(`\n${tables.join('\n\n')}\n`)
} finally {
  consumers.close()
  rmSync(packed, { recursive: true, force: true, maxRetries: 3 })
}
for (const failure of failures) console.log(`${failure}\n`)
console.log(`${failures.length === 0 ? 'all passed' : `${failures.length} failed`} in${seconds()}`)
process.exitCode = failures.length === 0 ? 0 : 1

function table(title: string, combinations: readonly Combination[]): string {
  const cells = new Map(combinations.map((each) => [`${each.row}|${each.column}`, result(each)]))
  const rows = [...new Set(combinations.map(({ row }) => row))]
  const columns = [...new Set(combinations.map(({ column }) => column))]
  const width = Math.max(...rows.map((row) => row.length)) + 2
  const line = (first: string, rest: string[]) =>
    first.padEnd(width) + rest.map((text, at) => text.padEnd(columns[at]!.length + 2)).join('')
  const body = rows.map((row) =>
    line(
      row,
      columns.map((column) => cells.get(`${row}|${column}`) ?? ''),
    ),
  )
  return [title, line('', columns), ...body].join('\n')
}

function result({ row, column, run }: Combination): string {
  process.stdout.write(`${seconds()}  ${row}, ${column} … `)
  try {
    run()
    console.log('ok')
    return 'ok'
  } catch (thrown) {
    console.log('FAILED')
    const failure = `${row}, ${column}:\n${(thrown as Error).message}`
    console.log(failure)
    failures.push(failure)
    return 'FAILED'
  }
}
