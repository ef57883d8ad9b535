import { calendar } from './calendar.ts'
import { cron } from './cron.ts'
import { duration } from './duration.ts'
import { every } from './every.ts'
import { instant } from './instant.ts'
import { oncePhrase } from './once-phrase.ts'
import { preview } from './preview.ts'
import { recurringPhrase } from './recurring-phrase.ts'
import { rrule } from './rrule.ts'
import type { Subject } from './subject.ts'
import { timezone } from './timezone.ts'
import { when } from './when.ts'

/** Every parser of `src/time`. */
export const SUBJECTS: readonly Subject[] = [
  cron,
  duration,
  every,
  instant,
  timezone,
  oncePhrase,
  recurringPhrase,
  rrule,
  when,
  preview,
  calendar,
]
