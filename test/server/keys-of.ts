import type { Rights } from '../../src/contracts/index.ts'
import type { Wakeful } from '../../src/index.ts'
import { KeyRegistry } from '../../src/server/index.ts'

/** Makes keys as another process on the same store would; the server must notice by itself when they end. */
export function keysOf({ operator }: Wakeful) {
  const book = new KeyRegistry(operator.documents, operator.clock)
  const keys = async (
    tenant: string,
    owner: string | null,
    rights: Rights,
    lastsMs: number | null = null,
  ) => {
    const expiresAt = lastsMs === null ? null : operator.clock.now() + lastsMs
    const { key, view } = await book.create({ tenant, owner, rights, label: '', createdBy: null, expiresAt })
    return {
      key,
      id: view.id,
      revoke: () => book.revoke(view.id, tenant),
      rotate: () => book.rotate(view.id, tenant, 0),
    }
  }
  return { keys }
}
