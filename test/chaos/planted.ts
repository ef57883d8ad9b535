import { readOptions } from '../script-options.ts'
import { SIMULATION_PLANTED } from '../simulation/planted.ts'
import { hunt, tableOf } from './hunt.ts'
import type { Planted } from './plant.ts'
import { POSTGRES_PLANTED } from './postgres/planted.ts'
import { SQLITE_PLANTED } from './sqlite-planted.ts'

const USAGE = `Checks that the campaigns or the simulation find planted bugs. Exits with 1 if one is missed.

  npm run test:planted -- [--store sqlite|postgres|simulation] [--only WORDS]

--store is the campaign that hunts (sqlite); --only hunts the bugs whose title contains these words.`

const values = readOptions(USAGE, {
  store: { type: 'string', default: 'sqlite' },
  only: { type: 'string', default: '' },
})

const STORES: Readonly<Record<string, { readonly all: readonly Planted[]; readonly parallel: number }>> = {
  sqlite: { all: SQLITE_PLANTED, parallel: 1 },
  postgres: { all: POSTGRES_PLANTED, parallel: 1 },
  // The simulation does not depend on the speed of the machine.
  simulation: { all: SIMULATION_PLANTED, parallel: 2 },
}

const store = STORES[values.store]
if (store === undefined) throw new Error(`--store is one of ${Object.keys(STORES).join(', ')}`)
const chosen = store.all.filter(({ bug }) => bug.includes(values.only))
const findings = await hunt(chosen, {
  parallel: store.parallel,
  onFinding: ({ bug, isCaught, breaches, seeds, output }) => {
    const when = seeds === null ? '' : ` after ${seeds} seeds`
    console.log(`${isCaught ? 'caught' : 'MISSED'}  ${bug} (${breaches.join(', ')}${when})`)
    if (!isCaught) console.log(output)
  },
})
const missed = findings.filter(({ isCaught }) => !isCaught).length
console.log(`\n${tableOf(findings).join('\n')}\n`)
console.log(`${chosen.length - missed} of ${chosen.length} planted bugs were caught`)
process.exitCode = missed === 0 ? 0 : 1
