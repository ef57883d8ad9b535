import { humanizeDuration } from '../../time/index.ts'
import { count } from '../text/index.ts'
import type { Terminal } from './terminal.ts'

const REDRAW_MS = 100
const PLAIN_LINE_MS = 5000
const BAR_WIDTH_MAX = 30

/** Does work that reports its progress, shown on stderr: a bar on a terminal, a plain line every few seconds elsewhere. */
export async function withProgress<T>(
  { stderr, monotonic }: Pick<Terminal, 'stderr' | 'monotonic'>,
  label: string,
  work: (onProgress: (done: number, total: number) => void) => Promise<T>,
): Promise<T> {
  const live = stderr.isTTY === true
  const begunAt = monotonic()
  let drawnAt = live ? Number.NEGATIVE_INFINITY : begunAt
  const draw = (done: number, total: number) => {
    const now = monotonic()
    if (now - drawnAt < (live ? REDRAW_MS : PLAIN_LINE_MS)) return
    drawnAt = now
    const text = progressText(label, done, total, now - begunAt, stderr.columns ?? 80)
    stderr.write(live ? `\r\u001B[K${text}` : `${text}\n`)
  }
  try {
    return await work(draw)
  } finally {
    if (live && drawnAt > Number.NEGATIVE_INFINITY) stderr.write('\r\u001B[K')
  }
}

/** One line of progress: done, total, rate and remaining time. */
export function progressText(
  label: string,
  done: number,
  total: number,
  elapsedMs: number,
  columns: number,
): string {
  const rate = elapsedMs > 0 ? (done * 1000) / elapsedMs : 0
  const speed = rate > 0 ? ` · ${count(Math.round(rate))}/s` : ''
  if (total <= 0) return `${label}: ${count(done)}${speed}`
  const part = Math.min(1, done / total)
  const left = rate > 0 && done < total ? ` · ${humanizeDuration(((total - done) * 1000) / rate)} left` : ''
  const facts = `${String(Math.floor(part * 100)).padStart(3)}% ${count(done)}/${count(total)}${speed}${left}`
  const barWidth = Math.min(BAR_WIDTH_MAX, columns - label.length - facts.length - 5)
  if (barWidth < 5) return `${label}: ${facts}`
  const filled = Math.round(part * barWidth)
  return `${label} [${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}] ${facts}`
}
