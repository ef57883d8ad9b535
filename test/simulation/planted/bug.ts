import type { Edit, Planted } from '../../chaos/plant.ts'
import type { Breach } from '../../judge/breach.ts'

/** A bug that simulated worlds must find, and what they must call it. */
export interface Bug {
  readonly bug: string
  readonly edits: readonly Edit[]
  readonly breaches: readonly Breach[]
  /** Within so many seeds, where it is not 200: what shows in years alone shows in one seed of a hundred. */
  readonly seeds?: number
}

const SEEDS = 200

/** The bug as the hunt wants it. */
export function planted({ bug, edits, breaches, seeds = SEEDS }: Bug, isBoot = false): Planted {
  return { bug, edits, by: { simulation: { seeds, isBoot }, breaches } }
}
