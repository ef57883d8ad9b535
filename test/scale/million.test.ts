import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { fillEnded, fillPending } from './fill.ts'
import { probe, timeReads } from './measure.ts'

/** The long form, with a million, is `node test/scale/million.ts`. */
const ROWS = 100_000

const directory = mkdtempSync(join(tmpdir(), 'wakeful-scale-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

test('many pending alarms cost no memory and no time to open (bounded)', async () => {
  const empty = await probe(join(directory, 'empty.db'))
  await fillPending(join(directory, 'pending.db'), ROWS)
  const full = await probe(join(directory, 'pending.db'))
  expect(full.openMs).toBeLessThan(1_000)
  expect(full.rssMb - empty.rssMb).toBeLessThan(50)
  expect(full.lateMs[0]).toBeGreaterThanOrEqual(0)
}, 60_000)

test('stats and every filter of history take under 50 ms of processor time with many ended alarms', async () => {
  await fillEnded(join(directory, 'ended.db'), ROWS)
  const reads = await timeReads(join(directory, 'ended.db'))
  const slow = Object.entries(reads).filter(([, ms]) => ms >= 50)
  expect(slow).toEqual([])
}, 60_000)
