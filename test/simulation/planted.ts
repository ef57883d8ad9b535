import type { Planted } from '../chaos/plant.ts'
import { BOOT_BUGS } from './planted/boot.ts'
import { planted } from './planted/bug.ts'
import { ENGINE_BUGS } from './planted/engine.ts'
import { RULE_BUGS } from './planted/rules.ts'
import { STORE_BUGS } from './planted/store.ts'

/** Bugs that simulated worlds must find: `npm run test:planted -- --store simulation`. */
export const SIMULATION_PLANTED: readonly Planted[] = [
  ...[...ENGINE_BUGS, ...RULE_BUGS, ...STORE_BUGS].map((bug) => planted(bug)),
  ...BOOT_BUGS.map((bug) => planted(bug, true)),
]
