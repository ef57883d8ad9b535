import { SimulatedBackend } from './simulated-backend.ts'
import { SimulatedDatabase } from './store/database.ts'
import { World, type WorldOptions } from './world.ts'

/** A world whose processes share a simulated database over a simulated network. */
export function simulatedWorld(options: WorldOptions): World<SimulatedBackend> {
  return new World(options, (world) => {
    const { leaseMs, heartbeatMs, shards = 8 } = options
    const notify = world.network.notify.bind(world.network)
    const database = new SimulatedDatabase({
      now: () => world.databaseNow,
      elapsed: () => world.now,
      shards,
      notify,
      later: (ms, call) => world.in(ms, call),
    })
    return new SimulatedBackend({ database, network: world.network, leaseMs, heartbeatMs })
  })
}
