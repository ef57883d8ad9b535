import type { Plan } from '../plan.ts'
import { type Played, play } from '../play.ts'
import { FileWorld } from './file-world.ts'

/** Runs a plan on one real SQLite file, which is removed afterwards. */
export async function playOnFile(plan: Plan, withTrace = false): Promise<Played> {
  const worlds: FileWorld[] = []
  try {
    return await play(plan, withTrace, (options) => {
      const world = new FileWorld(options)
      worlds.push(world)
      return world
    })
  } finally {
    for (const { backend } of worlds) backend.dispose()
  }
}
