import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // A real PostgreSQL, one for the whole run.
    globalSetup: ['test/postgres/setup.ts'],
    // Generous: these machines are noisy, and a timing must never fail a test.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxWorkers: 2,
    env: {
      // Servers that tests start listen where there is room.
      WAKEFUL_PORT: '0',
      // Hundreds of processes start from the sources; each would strip and compile them anew.
      NODE_COMPILE_CACHE: resolve('node_modules/.cache/compile'),
    },
  },
})
