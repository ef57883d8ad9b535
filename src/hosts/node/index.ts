/** Wakeful on Node: wires the ports to the runtime. */
export { type OpenOptions, open } from './open.ts'
export { systemClock } from './system-clock.ts'
