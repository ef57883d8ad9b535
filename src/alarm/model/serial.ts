/** The number a store gives a row: a bigint from 2^53 on, where a plain number would be another one. */
export type Serial = number | bigint

/** None comes after this one, in any store. */
export const LAST_SERIAL: Serial = 2n ** 63n - 1n

/** Reads one exactly. */
export function serialOf(text: string): Serial {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}

/** The order in which rows were numbered. */
export function bySerial(a: Serial, b: Serial): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The one so many after another. */
export function stepped(serial: Serial, by: 1 | -1): Serial {
  return serialOf(String(BigInt(serial) + BigInt(by)))
}
