/** Which tenants, owners and targets are paused, and how many deliveries tenants may have running. */
export { PauseControl } from './pause-control.ts'
