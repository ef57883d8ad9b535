export { claim, isCertainlyDue, nextClaimableWakeAt, nextWakeAt } from './claim.ts'
export { FAIR_QUERIES } from './fair-scan.ts'
export { holdsShard, recoverInFlight, settleAll } from './settle.ts'
export { missingHandlers, pausedTargets, requeueWaiting } from './waiting.ts'
