import type { Scenario } from '../scenario.ts'
import { takeScenarios } from './takes.ts'

/** Every scenario. */
export const scenarios: readonly Scenario[] = [...takeScenarios]
