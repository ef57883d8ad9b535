import { RawJson, type SetOptions, type TargetSpec, utf8Length } from '../../alarm/index.ts'
import { WakefulError } from '../../error.ts'

/** Throws if an alarm carries more bytes than its quota allows, in whichever field. */
export function assertSize(options: SetOptions, max: number): void {
  const bytes = sizeOf(options)
  if (bytes <= max) return
  throw new WakefulError('payload.over_quota', { bytes, max })
}

function sizeOf({ payload, message = '', target, onFailure }: SetOptions): number {
  return jsonBytes(payload) + utf8Length(message) + targetBytes(target) + targetBytes(onFailure)
}

/** The bytes of a target besides the name of its kind. The name of a handler is short. */
function targetBytes(target: TargetSpec | undefined): number {
  if (target === undefined || typeof target === 'string') return 0
  const values = Object.values(target).filter((value) => value !== true)
  return values.reduce<number>((sum, value) => sum + jsonBytes(value), 0)
}

function jsonBytes(value: unknown): number {
  if (value === undefined) return 0
  return utf8Length(value instanceof RawJson ? value.text : JSON.stringify(value))
}
