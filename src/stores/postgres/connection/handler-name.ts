import { createHash } from 'node:crypto'

/** What the transactions of a process's handlers are called on the server: whoever takes over from it ends them. */
export function handlerName(owner: string): string {
  return `wakeful handler ${createHash('sha1').update(owner).digest('hex').slice(0, 16)}`
}
