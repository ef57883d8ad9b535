import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Breach } from './judge.ts'

/** A fault put into a copy of the sources, and what the campaign must call it. */
interface Planted {
  readonly bug: string
  readonly file: string
  readonly from: string
  readonly to: string
  readonly breaches: readonly (Breach | 'damage')[]
}

const PLANTED: readonly Planted[] = [
  {
    bug: 'a set is answered before it is written',
    file: 'src/stores/sqlite/write-queue.ts',
    from: "this.#session.db.exec('COMMIT')",
    to: "for (const [job, answer] of answers) job.resolve(answer as never)\n      await new Promise((resolve) => setTimeout(resolve, 20))\n      this.#session.db.exec('COMMIT')",
    breaches: ['lost'],
  },
  {
    bug: 'the clock fires 30 ms ahead',
    file: 'src/hosts/node/system-clock.ts',
    from: 'now: () => Date.now(),',
    to: 'now: () => Date.now() + 30,',
    breaches: ['early'],
  },
  {
    bug: 'what is held is taken again',
    file: 'src/engine/held-set.ts',
    from: 'return this.#versions.get(id) === version',
    to: 'return this.#versions.get(id) === version && id % 50 !== 0',
    breaches: ['duplicate', 'uncounted'],
  },
  {
    bug: 'a takeover does not count what was in flight',
    file: 'src/stores/sqlite/delivery.ts',
    from: "{ kind: 'lost' }",
    to: "{ kind: 'released' }",
    breaches: ['uncounted'],
  },
  {
    bug: 'a takeover drops what was in flight',
    file: 'src/stores/sqlite/delivery.ts',
    from: "apart(desk, row, (inner) => settleLooking(inner, timerOf(row), { kind: 'lost' }))",
    to: 'desk.session.run(sql.removeTimer, id)',
    breaches: ['lost', 'unrecorded', 'damage'],
  },
  {
    bug: 'a cancel looks at no flights',
    file: 'src/stores/sqlite/edits.ts',
    from: 'const flights = readFlights(desk.session)',
    to: 'const flights = { has: () => false }',
    breaches: ['after_cancel', 'unrecorded', 'damage'],
  },
  {
    bug: 'a handler writes outside the transaction of its settle',
    file: 'src/stores/sqlite/store.ts',
    from: 'const settlement = await work(session.db)',
    to: "const settlement = await work(session.db)\n        session.db.exec('COMMIT')\n        await new Promise((resolve) => setTimeout(resolve, 20))\n        await this.#begin(session)",
    breaches: ['effect'],
  },
  {
    bug: 'an outcome is not recorded now and then',
    file: 'src/stores/sqlite/apply.ts',
    from: 'for (const event of change.events ?? []) {',
    to: 'for (const event of alarm.seq % 40 === 0 ? [] : (change.events ?? [])) {',
    breaches: ['unrecorded', 'lost'],
  },
  {
    bug: 'the figures forget a cancel',
    file: 'src/stores/sqlite/tallies.ts',
    from: 'if (tally.to !== null) sums[tally.to] += 1',
    to: "if (tally.to !== null && tally.to !== 'cancelled') sums[tally.to] += 1",
    breaches: ['damage'],
  },
]

/** `node test/chaos/planted.ts`: whether the campaign finds bugs that are really there. */
const root = fileURLToPath(new URL('../..', import.meta.url))
let missed = 0
for (const planted of PLANTED) {
  const output = campaignOn(planted)
  const found = [...new Set(output.match(/^\w+(?=: )/gm) ?? [])]
  const caught = planted.breaches.some((breach) => found.includes(breach))
  if (!caught) missed += 1
  console.log(
    `${caught ? 'caught' : 'MISSED'}  ${planted.bug} (${found.filter((word) => word !== 'chaos').join(', ')})`,
  )
  if (!caught) console.log(output)
}
console.log(`${PLANTED.length - missed} of ${PLANTED.length} planted bugs were caught`)
process.exitCode = missed === 0 ? 0 : 1

/** Runs a short campaign on a copy of the sources with the bug in it, and answers what it printed. */
function campaignOn({ bug, file, from, to }: Planted): string {
  const copy = mkdtempSync(join(tmpdir(), 'wakeful-planted-'))
  try {
    for (const part of ['src', 'test/chaos', 'package.json'])
      cpSync(join(root, part), join(copy, part), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    const path = join(copy, file)
    const text = readFileSync(path, 'utf8')
    if (!text.includes(from)) throw new Error(`cannot plant "${bug}": ${file} no longer says ${from}`)
    writeFileSync(
      path,
      text.replace(from, () => to),
    )
    const run = join(copy, 'test', 'chaos', 'run.ts')
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [run, '--kills', '12', '--seed', '1', '--discard'],
      {
        cwd: dirname(run),
        encoding: 'utf8',
      },
    )
    return `${stdout}\n${stderr}`
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}
