import type { Command } from 'commander'
import { errorText } from '../../error.ts'
import type { OpenOptions } from '../../index.ts'
import type { localTools } from '../../server/mcp/index.ts'
import { addCommand, type Globals, type Location, locationOf, scopeOf, zoneOf } from '../arguments/index.ts'
import { withStore } from '../session/index.ts'
import { badUsage, type CliContext, Stop } from '../terminal/index.ts'

/** `mcp`: MCP tools over stdio, for agents that start their servers themselves. */
export function addMcp(program: Command, shell: CliContext): void {
  addCommand(program, 'mcp', 'serve alarms as tools to an agent (MCP over stdio)', [
    'mcp --db /home/ann/alarms.db --timezone Europe/Rome',
    'mcp --url https://wakeful.example.com',
  ])
    .option('--no-clock', 'do not fire alarms here: another process does')
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

/** Serves the tools on a store. This process fires the alarms, unless another one does. */
async function onStore(shell: CliContext, self: Command, stop: Stop, runsClock: boolean): Promise<void> {
  const { terminal } = shell
  // stdout is for the protocol.
  const onError = (thrown: unknown) => void terminal.stderr.write(`error: ${errorText(thrown)}\n`)
  // A separate pool, because handlers of an application run only in processes that have them.
  const { PauseControl } = await import('../../server/index.ts')
  const { localTools } = await import('../../server/mcp/index.ts')
  const pauseControl = new PauseControl()
  const choices: OpenOptions = {
    createdVia: 'mcp',
    pool: 'mcp',
    namesPool: 'app',
    pauses: pauseControl,
    deliveryLimits: pauseControl,
    onError,
  }
  const { tenant = 'default', owner = '' } = scopeOf(self.optsWithGlobals())
  await withStore(
    shell,
    self,
    'any',
    async ({ wakeful, zone }) => {
      const { documents, clock } = wakeful.operator
      // Pauses of an operator on this store apply here too.
      const detach = await pauseControl.attach(documents, clock, onError)
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

/** Serves the tools of a server. */
async function throughServer(
  shell: CliContext,
  globals: Globals,
  { url, key }: Extract<Location, { kind: 'server' }>,
  stop: Stop,
): Promise<void> {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw badUsage(
      `--url must be the URL of a server, such as http://127.0.0.1:7420, not ${JSON.stringify(url)}.`,
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
  { terminal, version }: CliContext,
  stop: Stop,
  box: ReturnType<typeof localTools>,
  zone: string,
): Promise<void> {
  const { serveTools } = await import('../../server/mcp/index.ts')
  const { stdin: input, stdout: output } = terminal
  await serveTools({ input, output, box, info: { version, zone }, signal: stop.signal })
}
