import type { Command } from 'commander'
import { errorText } from '../../error.ts'
import type { OpenOptions } from '../../index.ts'
import type { localTools } from '../../server/mcp/index.ts'
import { addCommand, type Globals, type Location, locationOf, scopeOf, zoneOf } from '../arguments/index.ts'
import { withStore } from '../session/index.ts'
import { badUsage, type Shell, Stop } from '../terminal/index.ts'

/** `mcp`: the tools of agents over stdio, for clients that start their servers themselves. */
export function addMcp(program: Command, shell: Shell): void {
  addCommand(program, 'mcp', 'serve alarms as tools to an agent (MCP over stdio)', [
    'mcp --db /home/ann/alarms.db --timezone Europe/Rome',
    'mcp --url https://wakeful.example.com',
  ])
    .option('--no-clock', 'do not run the clock here: another process fires the alarms')
    .action(async (flags: { clock: boolean }, self: Command) => {
      const globals: Globals = self.optsWithGlobals()
      const stop = new Stop(shell.terminal)
      try {
        const place = locationOf(globals, shell.terminal.env)
        if (place.kind === 'store') await onStore(shell, self, stop, flags.clock)
        else await throughServer(shell, globals, place, stop)
      } finally {
        stop.forget()
      }
    })
}

/** On the store itself: this process runs the clock, or stands by where another does. */
async function onStore(shell: Shell, self: Command, stop: Stop, runsClock: boolean): Promise<void> {
  const { terminal } = shell
  // Nothing but the protocol goes to stdout.
  const onError = (thrown: unknown) => void terminal.stderr.write(`trouble: ${errorText(thrown)}\n`)
  // A pool of its own: the clock of an application's handlers belongs to processes that have them.
  const { PauseControl } = await import('../../server/index.ts')
  const { localTools } = await import('../../server/mcp/index.ts')
  const holds = new PauseControl()
  const choices: OpenOptions = {
    createdVia: 'mcp',
    pool: 'mcp',
    namesPool: 'app',
    pauses: holds,
    deliveryLimits: holds,
    onError,
  }
  const { tenant = 'default', owner = '' } = scopeOf(self.optsWithGlobals())
  await withStore(
    shell,
    self,
    'any',
    async ({ wakeful, zone }) => {
      const { documents, clock } = wakeful.operator
      // What an operator has paused on this store is held here too.
      const detach = await holds.attach(documents, clock, onError)
      try {
        if (runsClock) await wakeful.start()
        await serve(shell, stop, localTools(wakeful, { tenant, owner, zone }, onError), zone)
      } finally {
        detach()
      }
    },
    choices,
  )
}

/** Through a server: it has the clock, the keys and the quotas. */
async function throughServer(
  shell: Shell,
  globals: Globals,
  { url, key }: Extract<Location, { kind: 'server' }>,
  stop: Stop,
): Promise<void> {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw badUsage(
      `--url must be the address of a server, such as http://127.0.0.1:7420, not ${JSON.stringify(url)}`,
    )
  const { tenant, owner } = scopeOf(globals)
  const zone = zoneOf(globals)
  const headers = {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(tenant !== undefined && { 'wakeful-tenant': encodeURIComponent(tenant) }),
    ...(owner !== undefined && { 'wakeful-owner': encodeURIComponent(owner) }),
  }
  const { remoteTools } = await import('../../server/mcp/index.ts')
  await serve(shell, stop, remoteTools({ url, headers, zone }), zone)
}

async function serve(
  { terminal, version }: Shell,
  stop: Stop,
  box: ReturnType<typeof localTools>,
  zone: string,
): Promise<void> {
  const { serveTools } = await import('../../server/mcp/index.ts')
  const { stdin: input, stdout: output } = terminal
  await serveTools({ input, output, box, info: { version, zone }, signal: stop.signal })
}
