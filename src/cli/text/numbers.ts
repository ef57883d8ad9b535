/** A number with thousands separators. */
export function count(value: number): string {
  return value.toLocaleString('en-US')
}

/** A number with its noun: '1 day', '400 days'. */
export function counted(value: number, what: string): string {
  return `${count(value)} ${what}${value === 1 ? '' : 's'}`
}
