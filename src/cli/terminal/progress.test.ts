import { expect, it } from 'vitest'
import { progressText, withProgress } from './progress.ts'
import type { Terminal } from './terminal.ts'

function fake(isTTY: boolean) {
  const clock = { ms: 0 }
  const written: string[] = []
  const stderr = { isTTY, columns: 80, write: (text: string) => written.push(text) }
  return { clock, written, terminal: { stderr, monotonic: () => clock.ms } as unknown as Terminal }
}

it('shows a bar with the share, the rate and the remaining time', () => {
  expect(progressText('export', 2500, 10_000, 5000, 80)).toBe(
    'export [████████░░░░░░░░░░░░░░░░░░░░░░]  25% 2,500/10,000 · 500/s · 15s left',
  )
})

it('omits the bar on a narrow terminal, and the share without a total', () => {
  expect(progressText('export', 2500, 10_000, 5000, 30)).toBe('export:  25% 2,500/10,000 · 500/s · 15s left')
  expect(progressText('import', 2500, 0, 5000, 80)).toBe('import: 2,500 · 500/s')
})

it('redraws at most ten times a second, and removes itself', async () => {
  const { clock, written, terminal } = fake(true)
  await withProgress(terminal, 'export', async (onProgress) => {
    for (clock.ms = 0; clock.ms < 1000; clock.ms += 10) onProgress(1, 10)
  })
  expect(written).toHaveLength(11)
  expect(written.at(-1)).toBe('\r\u001B[K')
})

it('writes few plain lines without a terminal', async () => {
  const { clock, written, terminal } = fake(false)
  await withProgress(terminal, 'export', async (onProgress) => {
    for (clock.ms = 0; clock.ms <= 10_000; clock.ms += 100) onProgress(1, 10)
  })
  expect(written).toHaveLength(2)
  expect(written[0]).toMatch(/^export .*\n$/)
})
