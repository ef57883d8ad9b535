import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { NEW_FIELD_EDITS } from '../tools/new-field.ts'

const PROGRAM = `
import { join } from 'node:path'
import { connect } from './src/client/index.ts'
import { exportLines, importLines } from './src/hosts/node/index.ts'
import { open } from './src/index.ts'
import { Log, startServer } from './src/server/index.ts'

const [, , dir, postgres] = process.argv
const from = 'sqlite:' + join(dir!, 'from.db')
const to = postgres + '?schema=new_field'
const target = { event: true }

const wakeful = await open(from)
const set = await wakeful.set({ delay: '1h' }, { target, costCentre: '4711' })
const edited = await wakeful.edit(set.id, { costCentre: '4712' })
const refused = await wakeful.set({ delay: '1h' }, { target, costCentre: 'x'.repeat(600) }).catch((error) => error.code)
const server = await startServer({
  wakeful, host: '127.0.0.1', port: 0, version: '0',
  log: new Log({ level: 'error', format: 'json', write: () => {}, now: () => 0, pid: 0 }),
})
const answer = await fetch(server.url + '/v1/alarms', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ delay: '1h', target, cost_centre: '4713' }),
})
const posted = (await answer.json()) as { id: string; cost_centre: string }
const remote = connect(server.url)
const sent = await remote.set({ delay: '1h' }, { target, costCentre: '4714' })
const fetched = await remote.get(posted.id)
const without = await wakeful.set({ delay: '1h' }, { target })
await server.close()
await wakeful.close()
await importLines(to, exportLines(from))
const moved = await open(to)
const imported = await moved.get(edited.id)
await moved.close()
console.log(JSON.stringify({
  set: set.costCentre, edited: edited.costCentre, refused, posted: posted.cost_centre, sent: sent.costCentre,
  fetched: fetched!.costCentre, without: without.costCentre, imported: imported!.costCentre,
}))
`

const dir = mkdtempSync(join(tmpdir(), 'wakeful-new-field-'))
afterAll(() => rmSync(dir, { recursive: true }))

for (const path of ['src', 'tools', 'deploy', 'docs', 'package.json', 'tsconfig.json'])
  cpSync(path, join(dir, path), { recursive: true })
symlinkSync(resolve('node_modules'), join(dir, 'node_modules'))
for (const { file, before, added } of NEW_FIELD_EDITS) {
  const text = readFileSync(file, 'utf8')
  writeFileSync(join(dir, file), text.replace(before, `${added}${before}`))
}
writeFileSync(join(dir, 'program.ts'), PROGRAM)

function node(...args: string[]): string {
  return execFileSync(process.execPath, args, {
    cwd: dir,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

describe('a field that is added to the table and to both schemas', () => {
  it.each(NEW_FIELD_EDITS)('is written into $file', ({ file, before }) => {
    expect(readFileSync(file, 'utf8').split(before)).toHaveLength(2)
  })

  it('is set, edited, limited, returned, exported and imported, by the library, REST and the client', () => {
    const seen = JSON.parse(node('program.ts', dir, `${inject('postgres')}postgres`))
    expect(seen).toEqual({
      set: '4711',
      edited: '4712',
      refused: 'invalid_request',
      posted: '4713',
      sent: '4714',
      fetched: '4713',
      without: null,
      imported: '4712',
    })
  }, 60_000)

  it('is a flag of the command line, and a line of what it prints', () => {
    const cli = (...args: string[]) =>
      node('src/cli/main.ts', ...args, '--db', `sqlite:${join(dir, 'cli.db')}`)
    const { id, cost_centre } = JSON.parse(cli('set', 'in 1h', '--cost-centre', '4715', '--json'))
    expect(cost_centre).toBe('4715')
    expect(cli('get', id)).toMatch(/^cost centre +4715$/m)
  }, 60_000)

  it('is in the reference', () => {
    expect(node('tools/http-doc.ts')).toContain(
      '| `cost_centre` | string, optional | The cost centre it is charged to. |',
    )
    expect(node('tools/cli-doc.ts')).toContain(
      '| `--cost-centre <text>` | the cost centre it is charged to |',
    )
    expect(node('tools/mcp-doc.ts')).toContain('| `cost_centre` |')
  }, 60_000)

  it('has its type', () => {
    const config = { extends: './tsconfig.json', include: ['program.ts'], exclude: [] }
    writeFileSync(join(dir, 'tsconfig.program.json'), JSON.stringify(config))
    expect(node('node_modules/typescript/bin/tsc', '-p', 'tsconfig.program.json')).toBe('')
  }, 180_000)
})
