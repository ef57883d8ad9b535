import type { Command } from 'commander'
import type { Story } from '../../alarm/index.ts'
import { WakefulError } from '../../error.ts'
import { wireText } from '../../library/index.ts'
import { addCommand } from '../arguments/index.ts'
import { addKeyOption, assertNamed, idOf, type KeyFlag, type Session, withSession } from '../session/index.ts'
import type { Shell } from '../terminal/index.ts'
import { localInstants, localTime, oneLine, wrap } from '../text/index.ts'

/** `why ID`: the whole story of one alarm, in order, and what happens next. */
export function addWhy(program: Command, shell: Shell): void {
  const command = addCommand(program, 'why [id]', 'tell the whole story of an alarm, and what happens next', [
    'why 0190c3b2-7e3a-7c3e-8e0c-0f3f2a5b1c2d',
    'why --key standup',
  ])
  addKeyOption(command).action(async (id: string | undefined, flags: KeyFlag, self: Command) => {
    assertNamed(id, flags)
    await withSession(shell, self, 'existing', async (session) => {
      const story = await storyOf(session, await idOf(session.alarms, id, flags))
      session.out.print({ json: () => wireText(story), human: () => storyLines(story, session) })
    })
  })
}

/** An alarm that is not there has a story too: most often it is another store, or another owner's. */
async function storyOf({ alarms, url }: Session, id: string): Promise<Story> {
  try {
    return await alarms.why(id)
  } catch (thrown) {
    if (!(thrown instanceof WakefulError) || thrown.code !== 'not_found') throw thrown
    throw new WakefulError('alarm.not_found_in_store', { name: id, store: url }, { cause: thrown })
  }
}

/** The story as lines, its instants in the reader's zone. */
function storyLines(story: Story, { zone, out }: Session): string[] {
  const local = (text: string) => localInstants(oneLine(text), zone)
  // Where the reader's zone is another, what comes next is told in the alarm's own too.
  const next = story.timezone === zone ? story.next : withOwnTime(story)
  const told = (line: string, indent: number) => wrap(line, out.width, ' '.repeat(indent))
  return [
    ...[`alarm   ${story.id}`, `status  ${story.status}`, `asked   ${local(story.asked)}`].map((line) =>
      told(line, 8),
    ),
    '',
    ...story.story.map((line) => told(`${localTime(line.at, zone)}  ${local(line.text)}`, 28)),
    '',
    told(`next    ${local(next)}`, 8),
  ]
}

function withOwnTime({ next, timezone }: Story): string {
  return next.replace(
    /(\d{4}-\d\d-\d\dT[\d:.]+Z)(?: \([^)]*\))?/,
    (said, instant: string) => `${said} = ${localTime(new Date(instant), timezone)} ${timezone}`,
  )
}
