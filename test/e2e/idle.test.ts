import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { enterRunning, newPath } from './actors.ts'

const IDLE_MS = 5_000

interface Usage {
  readonly cpu: { readonly user: number; readonly system: number }
  readonly at: number
}

test('an idle owner writes nothing and uses under 3% of a core', async () => {
  const path = newPath()
  const owner = await enterRunning(path)
  await owner.set(3_600_000, { message: 'far' })
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  const observer = new DatabaseSync(path, { readOnly: true })
  const version = () => observer.prepare('PRAGMA data_version').get()
  const files = () =>
    [path, `${path}-wal`].map((file) => {
      const { size, mtimeMs } = statSync(file)
      return { size, mtimeMs }
    })
  try {
    const before = { version: version(), files: files() }
    const from = await owner.call<Usage>('usage')
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
    const to = await owner.call<Usage>('usage')
    const cpuMs = (to.cpu.user + to.cpu.system - from.cpu.user - from.cpu.system) / 1_000
    const percent = (100 * cpuMs) / (to.at - from.at)
    console.log(`idle: ${cpuMs.toFixed(1)} ms of CPU in ${IDLE_MS} ms (${percent.toFixed(2)}% of a core)`)
    expect({ version: version(), files: files() }).toEqual(before)
    // 0.8 % alone on a quiet machine, 1.2 % beside another test; the limit allows for a busy one.
    expect(percent).toBeLessThan(3)
  } finally {
    observer.close()
  }
})
