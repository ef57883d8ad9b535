export { claim, isCertainlyDue, nextWakeAt } from './claim.ts'
export { FAIR_QUERIES, fairWakeAt } from './fair-scan.ts'
export { ownsShard, recoverInFlight, settleAll } from './settle.ts'
export { pausedTargets, requeueWaiting } from './waiting.ts'
