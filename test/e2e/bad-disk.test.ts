import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { AlarmView } from '../../src/index.ts'
import { type Actor, enter, enterRunning, newPath } from './actors.ts'

/** Permissions do not apply to root, so the process runs as `nobody` then. */
const isRoot = process.getuid?.() === 0
const NOBODY = 65_534
const asUser = isRoot ? { uid: NOBODY } : {}

const unavailable = (text: RegExp) =>
  expect.objectContaining({ code: 'store_unavailable', message: expect.stringMatching(text) as string })

test('a file that is not a database is rejected and left unchanged', async () => {
  const path = newPath()
  writeFileSync(path, 'these are not the rows you are looking for\n'.repeat(100))
  await expect(enter(path)).rejects.toEqual(unavailable(/not a SQLite database/))
})

test('a folder that does not exist is rejected', async () => {
  await expect(enter(join(newPath(), 'nowhere', 'alarms.db'))).rejects.toEqual(
    unavailable(/cannot be opened/),
  )
})

test('a read-only file is rejected', async () => {
  const path = newPath()
  const first = await enterRunning(path)
  await first.call('close')
  chmodSync(path, 0o444)
  chmodSync(dirname(path), 0o555)
  try {
    await expect(enter(path, {}, asUser)).rejects.toEqual(unavailable(/./))
  } finally {
    chmodSync(dirname(path), 0o755)
  }
})

test('a read-only folder is rejected', async () => {
  const path = newPath()
  chmodSync(dirname(path), 0o555)
  try {
    await expect(enter(path, {}, asUser)).rejects.toEqual(unavailable(/./))
  } finally {
    chmodSync(dirname(path), 0o755)
  }
})

/** Lifts the limit of a running process (util-linux). */
const PRLIMIT = '/usr/bin/prlimit'

test.skipIf(!existsSync(PRLIMIT))(
  'a full disk rejects sets, loses nothing, and everything continues after it is freed',
  async () => {
    const path = newPath()
    // A limit on the file size stands for a full disk. Ignoring its signal makes the write fail instead.
    const owner = await enterRunning(path, {}, { before: "trap '' XFSZ; ulimit -S -f 2048" })
    const due = []
    for (let i = 0; i < 8; i += 1) due.push(await owner.set(3_000 + i * 50, { message: `due ${i}` }))
    for (const size of [100_000, 1_000, 1, 1]) expect(await fill(owner, size)).toEqual(unavailable(/./))
    // The record of a batch is small and may still fit. What cannot be settled is settled later, not fired again.
    await owner.troubled()
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(await statuses(owner, due)).toContain('active')

    const freedAt = Date.now()
    execFileSync(PRLIMIT, ['--pid', String(owner.pid), '--fsize=unlimited:'])
    for (const { id } of due) await owner.until('get', [id], (alarm: AlarmView) => alarm.status === 'fired')
    const resumedMs = Date.now() - freedAt
    await owner.set(0, { message: 'after' })
    await owner.fired('after')
    console.log(
      `a full disk: all had fired ${resumedMs} ms after it was freed; ${owner.errors.length} errors reported`,
    )
    const messages = owner.fires.map(({ message }) => message)
    expect(messages).toHaveLength(due.length + 1)
    expect(new Set(messages)).toEqual(new Set(['after', ...due.map(({ message }) => message)]))
  },
  40_000,
)

async function statuses(owner: Actor, alarms: readonly AlarmView[]): Promise<string[]> {
  const views = await Promise.all(alarms.map(({ id }) => owner.call<AlarmView>('get', id)))
  return views.map(({ status }) => status)
}

/** Sets alarms of a size until not even one more fits. Returns the error. */
async function fill(owner: Actor, size: number): Promise<unknown> {
  for (let i = 0; i < 1_000; i += 1) {
    try {
      await owner.set(3_600_000, { payload: 'x'.repeat(size) })
    } catch (thrown) {
      return thrown
    }
  }
  throw new Error('the disk was never full')
}
