import type { Command } from 'commander'
import { display, errorText, WakefulError } from '../../error.ts'
import type { localTools } from '../../server/mcp/index.ts'
import { addCommand, type Globals, type Location, locationOf, scopeOf, zoneOf } from '../arguments/index.ts'
import { type StoreSession, withStore } from '../session/index.ts'
import { type CliContext, Stop } from '../terminal/index.ts'

/** `mcp`: MCP tools over stdio, for agents that start their servers themselves. */
export function addMcp(program: Command, cli: CliContext): void {
  addCommand(program, 'mcp', 'serve alarms as tools to an agent (MCP over stdio)', [
    'mcp --db /home/ann/alarms.db --timezone Europe/Rome',
    'mcp --url https://wakeful.example.com',
  ])
    .option('--no-clock', 'do not fire alarms in this process; another one must')
    .action(async (flags: { clock: boolean }, self: Command) => {
      const globals: Globals = self.optsWithGlobals()
      const stop = new Stop(cli.terminal)
      try {
        const place = locationOf(globals, cli.terminal.env)
        if (place.kind === 'store') await throughStore(cli, self, stop, flags.clock)
        else await throughServer(cli, globals, place, stop)
      } finally {
        stop.unlisten()
      }
    })
}

/** Serves the tools on a store. This process also fires the alarms, unless another one does or `--no-clock` is set. */
async function throughStore(cli: CliContext, self: Command, stop: Stop, runsClock: boolean): Promise<void> {
  // stdout is for the protocol.
  const onError = (thrown: unknown) => void cli.terminal.stderr.write(`error: ${errorText(thrown)}\n`)
  const { PauseControl } = await import('../../server/index.ts')
  const { localTools } = await import('../../server/mcp/index.ts')
  const pauses = new PauseControl()
  // A separate pool, because handlers of an application run only in processes that have them.
  const pools = { pool: 'mcp', namesPool: 'app' }
  const options = { createdVia: 'mcp', ...pools, pauses, deliveryLimits: pauses, onError }
  const { tenant = 'default', owner = '' } = scopeOf(self.optsWithGlobals())
  const work = async ({ wakeful, zone }: StoreSession) => {
    const { documents, clock } = wakeful.operator
    // Pauses of an operator on this store apply here too.
    const detach = await pauses.attach(documents, clock, onError)
    try {
      if (runsClock) await wakeful.start()
      await serve(cli, stop, localTools(wakeful, { tenant, owner, zone }, onError), zone)
    } finally {
      detach()
    }
  }
  await withStore(cli, self, 'any', work, options)
}

async function throughServer(
  cli: CliContext,
  globals: Globals,
  { url, key }: Extract<Location, { kind: 'server' }>,
  stop: Stop,
): Promise<void> {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new WakefulError('cli.server_url', { value: display(url) }, { field: 'url' })
  const { tenant, owner } = scopeOf(globals)
  const zone = zoneOf(globals)
  const headers = {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(tenant !== undefined && { 'wakeful-tenant': encodeURIComponent(tenant) }),
    ...(owner !== undefined && { 'wakeful-owner': encodeURIComponent(owner) }),
  }
  const { remoteTools } = await import('../../server/mcp/index.ts')
  await serve(cli, stop, remoteTools({ url, headers, zone }), zone)
}

async function serve(
  { terminal, version }: CliContext,
  stop: Stop,
  tools: ReturnType<typeof localTools>,
  zone: string,
): Promise<void> {
  const { serveTools } = await import('../../server/mcp/index.ts')
  const { stdin: input, stdout: output } = terminal
  await serveTools({ input, output, box: tools, info: { version, zone }, signal: stop.signal })
}
