/** A whole number with its thousands apart. */
export function count(value: number): string {
  return value.toLocaleString('en-US')
}

/** So many of something: '1 day', '400 days'. */
export function counted(value: number, what: string): string {
  return `${count(value)} ${what}${value === 1 ? '' : 's'}`
}
