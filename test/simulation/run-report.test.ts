import { describe, expect, it } from 'vitest'
import { violation } from '../judge/breach.ts'
import { planOf } from './plan.ts'
import { play } from './play.ts'
import { runReport } from './run-report.ts'

/** A short run, with a violation that names one of its occurrences. */
async function reported(isWhole: boolean) {
  const plan = planOf(3)
  const played = await play({ ...plan, alarms: plan.alarms.slice(0, 4), faults: [] }, true)
  const starts = played.evidence.entries.filter((entry) => entry.type === 'start')
  const { name, occurrenceId } = starts.at(-1)!
  const violations = [violation('lost', `${occurrenceId} is marked as wrong`)]
  const report = runReport({ ...played, judgement: { ...played.judgement, violations } }, isWhole)
  return { report, name: name.split('.')[0]!, right: runReport(played, isWhole) }
}

describe('a run report', () => {
  it('has the names of the plan and seconds since the beginning, and neither ids nor dates', async () => {
    const { report, name } = await reported(true)
    expect(report).toMatch(new RegExp(`a user sets alarm ${name} `))
    expect(report).toMatch(new RegExp(`at-least-once: lost: alarm ${name} .*is marked as wrong$`))
    expect(report).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-|\b\d{13}\b/)
  })

  it('continues past the last delivery of the violation and includes its log records', async () => {
    const { report, name } = await reported(false)
    const [happened, log] = report.split('log of these alarms:')
    expect(happened).toMatch(new RegExp(`delivers alarm ${name} .*\n.*settle`, 's'))
    expect(log).toMatch(new RegExp(`alarm ${name} .*alarm\\.(fired|failed)`))
  })

  it('has no violations section if there are none', async () => {
    expect((await reported(false)).right).not.toContain('violations:')
  })
})
