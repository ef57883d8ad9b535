import type { Scenario } from '../scenario.ts'
import { editScenarios } from './edits.ts'
import { logScenarios } from './logs.ts'
import { lookoutScenarios } from './lookouts.ts'
import { ownerScenarios } from './owners.ts'
import { pairScenarios } from './pairs.ts'
import { settleScenarios } from './settles.ts'
import { takeScenarios } from './takes.ts'

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
