import { createHash } from 'node:crypto'

/** The application name of a process's handler transactions: a takeover ends them by it. */
export function handlerName(owner: string): string {
  return `wakeful handler ${createHash('sha1').update(owner).digest('hex').slice(0, 16)}`
}
