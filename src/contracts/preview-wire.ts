import { z } from 'zod'
import { instant } from './fields.ts'
import { named } from './operation.ts'

const optional = (description: string) => z.string().optional().describe(description)

/** A rule in a preview, as it would be stored. */
const ruleWire = z
  .looseObject({
    kind: z.enum(['once', 'cron', 'rrule', 'every']),
    timezone: z.string(),
    at: instant('Of `once`: the instant.').optional(),
    wall: z
      .int()
      .optional()
      .describe('Of `once` with a local time: that time in milliseconds, as if it were UTC.'),
    cron: optional('Of `cron`: what is `cron_expr` in an alarm.'),
    rrule: optional('Of `rrule`: as it was given.'),
    every: optional('Of `every`: as it was given.'),
    every_ms: z.int().optional().describe('Of `every`: its length.'),
    every_months: z.int().optional().describe('Of `every`, by the calendar: its months.'),
    anchor: instant('Of what recurs: the instant that intervals are counted from.').optional(),
    start: instant('No instant is before.').optional(),
    end: instant('No instant is after.').optional(),
    count: z.int().optional().describe('Total number of occurrences.'),
    jitter_ms: z.int().optional().describe('The largest random delay of each occurrence.'),
    dst: z
      .object({ gap: z.string(), overlap: z.string() })
      .optional()
      .describe('What to do at clock changes, if set.'),
    misfire: z
      .union([z.string(), z.object({ all: z.object({ max: z.int(), within_ms: z.int() }) })])
      .optional()
      .describe('What to do with missed occurrences, if set.'),
    exclude: z
      .object({
        calendars: z.array(z.string()).optional(),
        weekend: z.array(z.int()).optional(),
        move: z.string().optional(),
        offset: z.int().optional(),
      })
      .optional()
      .describe('Days off; Monday is 1.'),
  })
  .meta({ id: 'PreviewedRule', description: 'The parsed time.' })

const instantWire = named('PreviewedInstant', {
  instant: instant('When.'),
  local: z.string().meta({
    description: 'The same in the zone, with its offset and name.',
    examples: ['2030-01-01T09:00:00+01:00[Europe/Rome]'],
  }),
  note: optional('What may surprise about this one: a clock change, a day off.'),
})

/** A preview. */
export const previewWire = named('Preview', {
  timezone: z.string(),
  rule: ruleWire,
  description: z.string().describe('The rule in words.'),
  instants: z.array(instantWire).describe('The next instants, earliest first.'),
})
