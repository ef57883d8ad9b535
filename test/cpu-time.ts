/**
 * The processor time that this process has used, in milliseconds. A test that bounds the cost of a computation uses it
 * instead of a clock, which also counts the time in which other programs run.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
