import type { Command } from 'commander'
import { skippedText } from '../../alarm/index.ts'
import { eventWire } from '../../contracts/index.ts'
import { errorText } from '../../error.ts'
import type { EventView, OpenOptions, Wakeful } from '../../index.ts'
import { type Server, startServer } from '../../server/index.ts'
import { addCommand, wholeNumber } from '../command.ts'
import { fireLine, wakeText } from '../fire-text.ts'
import { fileOf, isInMemory, STORE_DEFAULT } from '../globals.ts'
import { withoutPasswords } from '../passwords.ts'
import { type StoreSession, withStore } from '../session.ts'
import { PRINT_TARGET } from '../set-arguments.ts'
import type { Shell } from '../shell.ts'
import { Stop } from '../stop.ts'
import { oneLine } from '../text-width.ts'
import { localInstants, localTime } from '../time-text.ts'

const OWNER_LOOK_MS = 250
const DRAIN_NOTE = 'stopping (30 s at most; Ctrl-C again ends at once)'
/** The events that someone who watches `serve` should see. */
const TROUBLE = /^alarm\.(?:attempt_failed|failed|timed_out|skipped|dead_lettered)$/

type Say = (type: string, text: string, more?: Readonly<Record<string, unknown>>) => void

interface ServeFlags {
  readonly concurrency?: number
  readonly host?: string
  readonly port?: number
}

const HOST = '127.0.0.1'
const PORT = 7420

/** `serve`: runs the clock and the HTTP API, and prints what fires without a target. */
export function addServe(program: Command, shell: Shell): void {
  addCommand(program, 'serve', 'run the clock and the HTTP API, and print what fires without a target', [
    'serve',
    'serve --db /var/lib/wakeful/alarms.db --port 8080 --json',
  ])
    .option('--host <address>', `where to listen (default ${HOST}; WAKEFUL_HOST)`)
    .option(
      '--port <n>',
      `the port of the HTTP API (default ${PORT}; 0 takes any; WAKEFUL_PORT)`,
      wholeNumber(0, 65_535),
    )
    .option('--concurrency <n>', 'deliveries at a time (default 100)', wholeNumber(1, 10_000))
    .action(async (flags: ServeFlags, self: Command) => {
      // What goes wrong while the store is opened is said as soon as there is someone to say it.
      const early: Parameters<Say>[] = []
      let say: Say = (...said) => void early.push(said)
      const choices: OpenOptions = {
        pool: PRINT_TARGET.pool,
        // Over the network there is no zone of one's own.
        timezone: 'UTC',
        onTrouble: (thrown) =>
          say('trouble', `trouble: ${errorText(thrown)}`, { message: errorText(thrown) }),
        ...(flags.concurrency !== undefined && { concurrency: flags.concurrency }),
      }
      const stop = new Stop(shell.terminal)
      try {
        await withStore(
          shell,
          self,
          'any',
          async (session) => {
            say = sayer(session, shell)
            for (const said of early) say(...said)
            await serve(session, shell, stop, say, flags)
          },
          choices,
        )
        say('stopped', 'stopped')
      } finally {
        stop.forget()
      }
    })
}

async function serve(
  session: StoreSession,
  shell: Shell,
  stop: Stop,
  say: Say,
  flags: ServeFlags,
): Promise<void> {
  const { wakeful, out, zone } = session
  wakeful.handle(PRINT_TARGET.handler, (fire) => {
    out.line(out.json ? wakeText(fire) : fireLine(fire, zone))
  })
  const server = await listen(session, shell, say, flags)
  try {
    await banner(session, shell, say, server?.url ?? null)
    await wakeful.start()
    await run(session, stop, say)
  } finally {
    await server?.close()
  }
}

/** The HTTP API. Where the port that nobody chose is taken, the clock runs without: it may be there to stand by. */
async function listen(
  { wakeful }: StoreSession,
  shell: Shell,
  say: Say,
  flags: ServeFlags,
): Promise<Server | null> {
  const { env } = shell.terminal
  const port = flags.port ?? portOf(env.WAKEFUL_PORT)
  try {
    return await startServer({
      wakeful,
      host: flags.host ?? env.WAKEFUL_HOST ?? HOST,
      port: port ?? PORT,
      version: shell.version,
      onTrouble: (thrown) => say('trouble', `trouble: ${errorText(thrown)}`, { message: errorText(thrown) }),
    })
  } catch (thrown) {
    if (port !== undefined) throw thrown
    say('no_http', `no HTTP API here: ${errorText(thrown)}`, { message: errorText(thrown) })
    return null
  }
}

function portOf(text: string | undefined): number | undefined {
  return text === undefined || text === '' ? undefined : wholeNumber(0, 65_535)(text)
}

async function run(session: StoreSession, stop: Stop, say: Say): Promise<void> {
  const { wakeful } = session
  const unwatch = watchOwnership(wakeful, say)
  const reporting = reportTrouble(session, stop.signal, say)
  await stop.asked
  unwatch()
  await reporting
  say('stopping', DRAIN_NOTE)
}

function sayer({ out, zone, now }: StoreSession, shell: Shell): Say {
  return (type, text, more = {}) => {
    const at = new Date(now())
    if (out.json) out.line(JSON.stringify({ type, at: at.toISOString(), pid: shell.terminal.pid, ...more }))
    else out.line(`${localTime(at, zone)}  ${text}`)
  }
}

async function banner(
  { alarms, out, url: whole }: StoreSession,
  shell: Shell,
  say: Say,
  http: string | null,
): Promise<void> {
  // A password is nothing for a terminal, or a log.
  const url = withoutPasswords(whole)
  const pools = ['wakeful', PRINT_TARGET.pool]
  if (out.json) {
    say('serving', '', { version: shell.version, store: url, pools, url: http })
    return
  }
  const db = url === STORE_DEFAULT ? '' : ` --db ${quoted(fileOf(url) ?? url)}`
  out.line(`wakeful ${shell.version}: store ${url}, pools ${pools.join(' and ')}, pid ${shell.terminal.pid}`)
  if (http !== null) out.line(`HTTP API: ${http} (${http}/openapi.json)`)
  if (isInMemory(url)) {
    out.line('In memory: no other process can set alarms here, and they end with this one.')
    return
  }
  if ((await alarms.stats()).total > 0) return
  out.line('Set your first alarm from another terminal:')
  out.line(`  ${shell.invocation} set 'in 10 seconds' --message hello${db}`)
}

/** Says who runs the clock, now and when it changes hands. */
function watchOwnership(wakeful: Wakeful, say: Say): () => void {
  let owned: boolean | null = null
  const look = () => {
    if (wakeful.isOwner === owned) return
    const before = owned
    owned = wakeful.isOwner
    if (owned) say('owner', before === null ? 'the clock runs here' : 'took over: the clock runs here now')
    else say('standby', 'standing by: another process runs the clock; this one takes over when it ends')
  }
  look()
  const timer = setInterval(look, OWNER_LOOK_MS)
  return () => clearInterval(timer)
}

/** Tells of what went wrong from now on; where the log cannot be followed, the alarms still fire. */
async function reportTrouble({ alarms, zone }: StoreSession, signal: AbortSignal, say: Say): Promise<void> {
  try {
    for await (const event of alarms.events({ follow: true, after: 'newest', signal })) {
      if (TROUBLE.test(event.type))
        say(event.type, troubleText(event, zone), { event: JSON.parse(eventWire(event)) })
    }
  } catch (thrown) {
    say('trouble', `cannot follow the log: ${errorText(thrown)}`, { message: errorText(thrown) })
  }
}

function troubleText({ type, alarmId, data }: EventView, zone: string): string {
  if (type === 'alarm.skipped')
    return `skipped: ${alarmId}: ${localInstants(oneLine(skippedText(data)), zone)}`
  const what = type.replace('alarm.', '').replaceAll('_', ' ')
  const said = data.error ?? data.reason
  return `${what}: ${alarmId}${typeof said === 'string' ? `: ${oneLine(said)}` : ''}`
}

/** An argument as a shell takes it. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
