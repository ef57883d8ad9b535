import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { enterRunning, newPath } from './actors.ts'

const IDLE_MS = 5_000
/** It looks for commits of other processes 200 times in this time. */
const WAKES_MAX = 400

interface Usage {
  readonly cpu: { readonly user: number; readonly system: number }
  /** How often the process went to sleep. */
  readonly switches: number
}

test('an idle owner writes nothing and hardly wakes', async () => {
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
    const wakes = to.switches - from.switches
    console.log(`idle for ${IDLE_MS} ms: woke ${wakes} times, ${cpuMs.toFixed(1)} ms of CPU`)
    expect({ version: version(), files: files() }).toEqual(before)
    expect(wakes).toBeLessThan(WAKES_MAX)
  } finally {
    observer.close()
  }
})
