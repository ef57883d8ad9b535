import { type Preview, preview as read, type When } from '../../../src/time/index.ts'
import { assertInstants, Bogus } from './checks.ts'
import { ISO } from './instant.ts'
import { localOf } from './local.ts'
import { ONCE } from './once-phrase.ts'
import { RECURRING } from './recurring-phrase.ts'
import { pick, type Subject } from './subject.ts'
import { soundWhen } from './when.ts'

interface Asked {
  when: unknown
  count?: number
  from?: number
}

const COUNT_MAX = 10

/** The preview of an accepted input: its description and its instants in local time. */
export const preview: Subject<Asked, Preview> = {
  name: 'preview',
  make(random, context) {
    const when = random.chance(0.6)
      ? soundWhen(random, context)
      : pick(random, [ONCE, RECURRING, ISO]).valid(random)
    return {
      when,
      ...(random.chance(0.3) && { count: random.between(0, COUNT_MAX) }),
      ...(random.chance(0.2) && { from: Math.max(0, context.now + random.between(-1e11, 1e11)) }),
    }
  },
  read: ({ when, ...options }, context) => read(when as When, { ...context, ...options }),
  check({ count = 5, from }, { rule, instants, description, timezone }, { now }) {
    if (instants.length > count) throw new Bogus(`${instants.length} instants instead of ${count}`)
    const at = instants.map(({ instant }) => Date.parse(instant))
    const start = rule.kind === 'once' || (rule.start ?? 0) >= now ? 0 : now + 1
    assertInstants(at, (from ?? start) - 1)
    if (/undefined|NaN|\[object|^$/.test(description)) throw new Bogus(`it is described as '${description}'`)
    for (const [index, { local }] of instants.entries()) {
      const wall = new Date(localOf(timezone, at[index]!)).toISOString()
      // Monrovia once had an offset with seconds, and Temporal omits zero seconds.
      if (!local.startsWith(wall.slice(0, 16))) throw new Bogus(`${local} is ${wall}`)
    }
  },
}
