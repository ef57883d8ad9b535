export { claim, claimableAt, isCertainlyDue, nextWakeAt } from './claim.ts'
export { FAIR_QUERIES } from './fair-scan.ts'
export { ownsShard, recoverInFlight, settleAll } from './settle.ts'
export { pausedTargets, requeueWaiting } from './waiting.ts'
