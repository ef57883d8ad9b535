/**
 * The connection between a process and the database. Every statement goes through it, so a simulation can delay it,
 * fail it before it ran, or lose its response after it ran. An error thrown by `run` is the database's response and is
 * passed on.
 */
export type Wire = <T>(process: string, name: string, run: () => T) => Promise<T>

/** A wire without faults or delays. */
export const openWire: Wire = async (_process, _name, run) => run()

/** The connection broke. Whether the statement ran is unknown. */
export class LinkLost extends Error {
  override readonly name = 'LinkLost'
}
