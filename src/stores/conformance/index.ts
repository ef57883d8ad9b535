import type { ConformanceCase } from './conformance-case.ts'
import { editCases } from './edits.ts'
import { lifecycleCases } from './lifecycle.ts'
import { setCases } from './sets.ts'

export type { ConformanceCase, Examinee, OpenStore } from './conformance-case.ts'

/** What any store must do to be one: each case runs on a store of its own. */
export const conformance: readonly ConformanceCase[] = [...lifecycleCases, ...setCases, ...editCases]
