/** Makes ids that sort by time (UUIDv7): random ones cost SQLite five times as much at a million rows. */
export type IdMaker = (now: number) => string

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const POOL_BYTES = 4096
/** The counter within a millisecond: 12 bits after the version and 6 of the next byte. */
const COUNTER_MAX = 0x3ffff

/** Makes ids that never go back, even if the clock does or a millisecond has many. */
export function idMaker(fill: (bytes: Uint8Array<ArrayBuffer>) => void): IdMaker {
  const pool = new Uint8Array(POOL_BYTES)
  let used = POOL_BYTES
  let lastMs = -1
  let counter = 0
  // Formatted once per millisecond, which may have a thousand ids.
  let time = ''
  const moveTo = (ms: number, count: number) => {
    lastMs = ms
    counter = count
    const digits = ms.toString(16).padStart(12, '0')
    time = `${digits.slice(0, 8)}-${digits.slice(8)}`
  }
  return (now) => {
    if (used + 9 > POOL_BYTES) {
      fill(pool)
      used = 0
    }
    const at = used
    used += 9
    const random = (index: number) => HEX[pool[at + index]!]
    const ms = Math.max(0, now)
    if (ms > lastMs) moveTo(ms, (pool[at + 7]! << 8) | pool[at + 8]!)
    else if (++counter > COUNTER_MAX) moveTo(lastMs + 1, 0)
    const high = `${HEX[0x70 | (counter >> 14)]}${HEX[(counter >> 6) & 0xff]}`
    const low = HEX[0x80 | (counter & 0x3f)]
    return `${time}-${high}-${low}${random(0)}-${random(1)}${random(2)}${random(3)}${random(4)}${random(5)}${random(6)}`
  }
}
