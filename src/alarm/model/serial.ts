/** The number of a row: a bigint from 2^53 on, where a plain number loses precision. */
export type Serial = number | bigint

/** The largest in any store. */
export const LAST_SERIAL: Serial = 2n ** 63n - 1n

/** Parses a serial without losing digits. */
export function serialOf(text: string): Serial {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}

/** Compares two serials. */
export function bySerial(a: Serial, b: Serial): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The next or the previous serial. */
export function stepped(serial: Serial, by: 1 | -1): Serial {
  return serialOf(String(BigInt(serial) + BigInt(by)))
}
