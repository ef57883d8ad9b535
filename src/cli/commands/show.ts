import type { Command } from 'commander'
import { ownedWireJson, type Story, wireJson } from '../../alarm/index.ts'
import { WakefulError } from '../../error.ts'
import { wireText } from '../../library/index.ts'
import { addCommand } from '../arguments/index.ts'
import {
  type AcrossFlags,
  addAcrossOptions,
  addKeyOption,
  isOwn,
  oneAlarmAction,
  readsById,
  type Session,
} from '../session/index.ts'
import { type CliContext, notFound } from '../terminal/index.ts'
import { alarmCard, localInstants, localTime, oneLine, wrap } from '../text/index.ts'

/** `get ID`: prints one alarm. */
export function addGet(program: Command, cli: CliContext): void {
  const command = addCommand(program, 'get [id]', 'show one alarm', [
    'get 0190c3b2-7e3a-7c3e-8e0c-0f3f2a5b1c2d',
    'get --key standup --json',
  ])
  addAcrossOptions(addKeyOption(command)).action(
    oneAlarmAction(
      cli,
      (flags: AcrossFlags) => async (session, id) => {
        const { out } = session
        const alarm = await readsById(session, flags).get(id)
        if (alarm === null) throw notFound(id)
        const isForeign = !isOwn(session, alarm)
        out.print(isForeign ? ownedWireJson(alarm) : wireJson(alarm), () =>
          alarmCard(alarm, session, out.width, isForeign),
        )
      },
      readsById,
    ),
  )
}

/** `why ID`: prints the story of one alarm, in order, and what happens next. */
export function addWhy(program: Command, cli: CliContext): void {
  const command = addCommand(program, 'why [id]', 'show the history of an alarm, and what happens next', [
    'why 0190c3b2-7e3a-7c3e-8e0c-0f3f2a5b1c2d',
    'why --key standup',
  ])
  addAcrossOptions(addKeyOption(command)).action(
    oneAlarmAction(
      cli,
      (flags: AcrossFlags) => async (session, id) => {
        const story = await storyOf(session, flags, id)
        session.out.print(wireText(story), () => storyLines(story, session))
      },
      readsById,
    ),
  )
}

/** The story of an alarm. The error for an unknown one says where it may be: mostly in another store, or of another owner. */
async function storyOf(session: Session, flags: AcrossFlags, id: string): Promise<Story> {
  const { url } = session
  try {
    const { tenant, owner, ...story } = await readsById(session, flags).why(id)
    if (tenant === undefined || owner === undefined || isOwn(session, { tenant, owner })) return story
    return { tenant, owner, ...story }
  } catch (thrown) {
    if (!(thrown instanceof WakefulError) || thrown.code !== 'not_found') throw thrown
    throw new WakefulError('alarm.not_found_in_store', { name: id, store: url }, { cause: thrown })
  }
}

/** The story as lines, with instants in the reader's zone. */
function storyLines(story: Story, { zone, out }: Session): string[] {
  const local = (text: string) => localInstants(oneLine(text), zone)
  // If the alarm has another zone, the next instant is printed in that too.
  const next = story.timezone === zone ? story.next : withOwnTime(story)
  const wrapped = (line: string, indent: number) => wrap(line, out.width, ' '.repeat(indent))
  return [
    ...[
      `alarm   ${story.id}`,
      ...(story.tenant === undefined ? [] : [`tenant  ${oneLine(story.tenant)}`]),
      ...(story.owner === undefined ? [] : [`owner   ${oneLine(story.owner)}`]),
      `status  ${story.status}`,
      `asked   ${local(story.asked)}`,
    ].map((line) => wrapped(line, 8)),
    '',
    ...story.story.map((line) => wrapped(`${localTime(line.at, zone)}  ${local(line.text)}`, 28)),
    '',
    wrapped(`next    ${local(next)}`, 8),
  ]
}

function withOwnTime({ next, timezone }: Story): string {
  return next.replace(
    /(\d{4}-\d\d-\d\dT[\d:.]+Z)(?: \([^)]*\))?/,
    (match, instant: string) => `${match} = ${localTime(new Date(instant), timezone)} ${timezone}`,
  )
}
