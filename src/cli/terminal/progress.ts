import { humanizeDuration } from '../../time/index.ts'
import { count } from '../text/index.ts'
import type { Terminal } from './terminal.ts'

/** Progress of a long command. */
export interface Progress {
  /** Updates how much is done, and the total if it is known only now. */
  at(done: number, total?: number | null): void
  /** Removes the bar. */
  end(): void
}

const REDRAW_MS = 100
const PLAIN_LINE_MS = 5000
const BAR_WIDTH_MAX = 30

/** Shows progress on stderr: a bar on a terminal, a plain line every few seconds elsewhere. */
export function progress(terminal: Terminal, label: string, total: number | null = null): Progress {
  const live = terminal.stderr.isTTY === true
  const begunAt = terminal.monotonic()
  let drawnAt = live ? Number.NEGATIVE_INFINITY : begunAt
  let isDrawn = false
  return {
    at(done, newTotal = total) {
      const now = terminal.monotonic()
      if (now - drawnAt < (live ? REDRAW_MS : PLAIN_LINE_MS)) return
      drawnAt = now
      const text = progressText(label, done, newTotal, now - begunAt, terminal.stderr.columns ?? 80)
      terminal.stderr.write(live ? `\r\u001B[K${text}` : `${text}\n`)
      isDrawn = live
    },
    end() {
      if (isDrawn) terminal.stderr.write('\r\u001B[K')
    },
  }
}

/** One line of progress: done, total, rate and remaining time. */
export function progressText(
  label: string,
  done: number,
  total: number | null,
  elapsedMs: number,
  columns: number,
): string {
  const rate = elapsedMs > 0 ? (done * 1000) / elapsedMs : 0
  const speed = rate > 0 ? ` · ${count(Math.round(rate))}/s` : ''
  if (total === null || total <= 0) return `${label}: ${count(done)}${speed}`
  const part = Math.min(1, done / total)
  const left = rate > 0 && done < total ? ` · ${humanizeDuration(((total - done) * 1000) / rate)} left` : ''
  const facts = `${String(Math.floor(part * 100)).padStart(3)}% ${count(done)}/${count(total)}${speed}${left}`
  const barWidth = Math.min(BAR_WIDTH_MAX, columns - label.length - facts.length - 5)
  if (barWidth < 5) return `${label}: ${facts}`
  const filled = Math.round(part * barWidth)
  return `${label} [${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}] ${facts}`
}
