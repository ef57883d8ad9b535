import { describe, expect, it } from 'vitest'
import { violation } from '../judge/breach.ts'
import { planOf } from './plan.ts'
import { play } from './play.ts'
import { runReport } from './run-report.ts'

/** A short run, with a wrong that names one of its occurrences. */
async function told(isWhole: boolean) {
  const plan = planOf(3)
  const played = await play({ ...plan, alarms: plan.alarms.slice(0, 4), faults: [] }, true)
  const starts = played.evidence.entries.filter((entry) => entry.type === 'start')
  const { name, occurrenceId } = starts.at(-1)!
  const violations = [violation('lost', `${occurrenceId} is only said to be wrong`)]
  const story = runReport({ ...played, judgement: { ...played.judgement, violations } }, isWhole)
  return { story, name: name.split('.')[0]!, right: runReport(played, isWhole) }
}

describe('a story', () => {
  it('has the names of the plan and seconds since the beginning, and neither ids nor dates', async () => {
    const { story, name } = await told(true)
    expect(story).toMatch(new RegExp(`a user sets alarm ${name} `))
    expect(story).toMatch(new RegExp(`at-least-once: lost: alarm ${name} .*is only said to be wrong$`))
    expect(story).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-|\b\d{13}\b/)
  })

  it('goes on past the last delivery of what was wrong, and says what the log has of it', async () => {
    const { story, name } = await told(false)
    const [happened, log] = story.split('what the log says of it:')
    expect(happened).toMatch(new RegExp(`delivers alarm ${name} .*\n.*settle`, 's'))
    expect(log).toMatch(new RegExp(`alarm ${name} .*alarm\\.(fired|failed)`))
  })

  it('has nothing to say of what was wrong where nothing was', async () => {
    expect((await told(false)).right).not.toContain('what was wrong')
  })
})
