import { z } from 'zod'
import { instant } from './fields.ts'

const optional = (description: string) => z.string().optional().meta({ description })

/** A rule as a preview shows it: as it would be kept. */
const ruleWire = z
  .looseObject({
    kind: z.enum(['once', 'cron', 'rrule', 'every']),
    timezone: z.string(),
    at: instant('Of `once`: the instant.').optional(),
    wall: z
      .int()
      .optional()
      .meta({ description: 'Of `once`, given as a wall time: that, in milliseconds as if it were UTC.' }),
    cron: optional('Of `cron`: what is `cron_expr` in an alarm.'),
    rrule: optional('Of `rrule`: as it was given.'),
    every: optional('Of `every`: as it was given.'),
    every_ms: z.int().optional().meta({ description: 'Of `every`: its length.' }),
    every_months: z.int().optional().meta({ description: 'Of `every`, by the calendar: its months.' }),
    anchor: instant('Of what recurs: the instant that intervals are counted from.').optional(),
    start: instant('No instant is before.').optional(),
    end: instant('No instant is after.').optional(),
    count: z.int().optional().meta({ description: 'How many occurrences in all.' }),
    jitter_ms: z.int().optional().meta({ description: 'Each wakes up to so much later.' }),
    dst: z
      .object({ gap: z.string(), overlap: z.string() })
      .optional()
      .meta({ description: 'What clock changes do to it, where it was said.' }),
    misfire: z
      .union([z.string(), z.object({ all: z.object({ max: z.int(), within_ms: z.int() }) })])
      .optional()
      .meta({ description: 'What becomes of missed instants, where it was said.' }),
    exclude: z
      .object({
        calendars: z.array(z.string()).optional(),
        weekend: z.array(z.int()).optional(),
        move: z.string().optional(),
        offset: z.int().optional(),
      })
      .optional()
      .meta({ description: 'Days off; Monday is 1.' }),
  })
  .meta({ id: 'PreviewedRule', description: 'What the time was read as.' })

const instantWire = z
  .object({
    instant: instant('When.'),
    local: z.string().meta({
      description: 'The same on the wall clock of the zone, with its offset and name.',
      examples: ['2030-01-01T09:00:00+01:00[Europe/Rome]'],
    }),
    note: optional('What may surprise about this one: a clock change, a day off.'),
  })
  .meta({ id: 'PreviewedInstant' })

/** What a time would mean. */
export const previewWire = z
  .object({
    timezone: z.string(),
    rule: ruleWire,
    description: z.string().meta({ description: 'The rule in words.' }),
    instants: z.array(instantWire).meta({ description: 'Its next instants, the next first.' }),
  })
  .meta({ id: 'Preview' })
