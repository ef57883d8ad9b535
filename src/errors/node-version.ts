/**
 * Refuses an old Node, before anything else of this package runs there and fails in a way that does not say why. Entry points
 * import this first. Other runtimes pass.
 */
import './reasons/core.ts'
import { WakefulError } from './wakeful-error.ts'

const MAJOR_MIN = 24

const { versions } = (globalThis as { process?: { versions?: { node?: string } } }).process ?? {}
if (versions?.node !== undefined && Number.parseInt(versions.node, 10) < MAJOR_MIN)
  throw new WakefulError('host.node_version', { min: MAJOR_MIN, found: versions.node })
