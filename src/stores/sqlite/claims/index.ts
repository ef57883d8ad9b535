export {
  heldTargets,
  isOwn,
  isSurelyDue,
  nextWakeAt,
  recoverFlights,
  releaseWaiting,
  settleAll,
  take,
} from './claims.ts'
export { FAIR_QUERIES, fairWakeAt } from './fair-scan.ts'
