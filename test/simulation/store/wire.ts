/**
 * What lies between a process and the database. Every statement goes through it, so that a simulation can delay it, fail
 * it before it ran (nothing happened), or lose its answer after it ran (half done). A throw of `run` is the database's own
 * answer, and is handed on as it is.
 */
export type Wire = <T>(process: string, name: string, run: () => T) => Promise<T>

/** A wire without faults: it answers at once. */
export const openWire: Wire = async (_process, _name, run) => run()

/** The link broke: nobody knows whether the statement ran. */
export class LinkLost extends Error {
  override readonly name = 'LinkLost'
}
