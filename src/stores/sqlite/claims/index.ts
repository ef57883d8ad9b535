export {
  claim,
  holdsShard,
  isCertainlyDue,
  nextWakeAt,
  pausedTargets,
  recoverInFlight,
  requeueWaiting,
  settleAll,
} from './claims.ts'
export { FAIR_QUERIES, fairWakeAt } from './fair-scan.ts'
