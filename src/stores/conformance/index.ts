import { cancelCases } from './cancel-wins.ts'
import type { ConformanceCase } from './conformance-case.ts'
import { daysOffCases } from './days-off.ts'
import { deliveryCases } from './delivery.ts'
import { documentCases } from './documents.ts'
import { editCases } from './edits.ts'
import { failureCases } from './failures.ts'
import { inboxCases } from './inbox.ts'
import { lifecycleCases } from './lifecycle.ts'
import { listCases } from './lists.ts'
import { logCases } from './log.ts'
import { passCases, pauseCases } from './operator-pauses.ts'
import { ownershipCases } from './ownership.ts'
import { setCases } from './sets.ts'
import { transactionCases } from './transactions.ts'
import { walkCases } from './walks.ts'

export type { ConformanceCase, Examinee, OpenStore } from './conformance-case.ts'

/** The behaviour of every store. Each case runs on a new store. */
export const conformance: readonly ConformanceCase[] = [
  ...lifecycleCases,
  ...setCases,
  ...editCases,
  ...deliveryCases,
  ...cancelCases,
  ...pauseCases,
  ...passCases,
  ...ownershipCases,
  ...daysOffCases,
  ...documentCases,
  ...inboxCases,
  ...transactionCases,
  ...failureCases,
  ...logCases,
  ...listCases,
  ...walkCases,
]
