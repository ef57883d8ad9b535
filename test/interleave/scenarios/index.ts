import type { Scenario } from '../scenario.ts'
import { claimScenarios } from './claims.ts'
import { editScenarios } from './edits.ts'
import { leaseScenarios } from './leases.ts'
import { logScenarios } from './logs.ts'
import { nextWakeScenarios } from './next-wakes.ts'
import { pairScenarios } from './pairs.ts'
import { settleScenarios } from './settles.ts'

/** All scenarios. */
export const scenarios: readonly Scenario[] = [
  ...claimScenarios,
  ...settleScenarios,
  ...leaseScenarios,
  ...editScenarios,
  ...logScenarios,
  ...nextWakeScenarios,
  ...pairScenarios,
]
