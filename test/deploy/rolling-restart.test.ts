import { expect, it } from 'vitest'
import { rollingRestart } from './rolling-restart.ts'

it('a rolling restart behind HAProxy and nginx cuts no request', { timeout: 300_000 }, async () => {
  const report = await rollingRestart({ nodes: 2, requests: 1_000, lameDuck: '3s', inter: '200ms' })
  console.log(`rolling restart: ${JSON.stringify(report)}`)
  expect(report.cut).toEqual([])
  expect(report.stored).toBe(report.acknowledged)
  for (const count of Object.values(report.requests)) expect(count).toBeGreaterThanOrEqual(500)
})
