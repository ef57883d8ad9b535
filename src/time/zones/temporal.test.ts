import { afterEach, expect, it, vi } from 'vitest'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

it('gives the same instants with the polyfill as with the runtime’s own Temporal', async () => {
  const context = { now: Date.parse('2026-03-27T09:30:15.123Z'), timezone: 'Europe/Rome' }
  const whens = [
    { cron: '30 2 * * *' },
    { cron: '*/30 * * * *', start: '2026-10-25T00:00', timezone: 'Australia/Lord_Howe' },
    'next friday at 3pm',
    'in 3 days',
    '2026-03-29 02:30',
  ]
  const native = await import('../index.ts')
  const expected = whens.map((when) => native.preview(when, context))
  vi.stubGlobal('Temporal', undefined)
  vi.resetModules()
  const polyfilled = await import('../index.ts')
  expect((await import('./temporal.ts')).temporal).toBeDefined()
  expect(whens.map((when) => polyfilled.preview(when, context))).toEqual(expected)
})
