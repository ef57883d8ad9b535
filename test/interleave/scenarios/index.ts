import type { Scenario } from '../scenario.ts'
import { editScenarios } from './edits.ts'
import { logScenarios } from './logs.ts'
import { lookoutScenarios } from './next-wakes.ts'
import { ownerScenarios } from './leases.ts'
import { pairScenarios } from './pairs.ts'
import { settleScenarios } from './settles.ts'
import { takeScenarios } from './claims.ts'

/** Every scenario. */
export const scenarios: readonly Scenario[] = [
  ...takeScenarios,
  ...settleScenarios,
  ...ownerScenarios,
  ...editScenarios,
  ...logScenarios,
  ...lookoutScenarios,
  ...pairScenarios,
]
