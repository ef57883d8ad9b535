import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, describe, expect, it } from 'vitest'
import { open } from '../../../src/index.ts'
import { serving } from '../harness.ts'
import { type Agent, agentOf, ERAS, newClient } from './agents.ts'

const dir = mkdtempSync(join(tmpdir(), 'wakeful-mcp-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const HELLO =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
const LAUNCH = resolve('src/cli/launch.js')

describe.for(ERAS)('wakeful mcp (%s)', (era) => {
  const db = join(dir, `${era}.db`)

  it('serves a store to the agent that started it, and runs its clock', async () => {
    const agent = await spawned(['--db', db, '--timezone', 'Europe/Rome'], {}, era)
    expect(agent.client.getServerVersion()?.name).toBe('wakeful')
    expect(agent.client.getInstructions()).toMatch('because Europe/Rome is used otherwise')
    const tomorrow = await agent.tool('set', { when: 'tomorrow at 9am', key: 'later' })
    expect(tomorrow.text).toMatch(/fires \w{3} \S+ 09:00 Europe\/Rome, in /)
    const set = await agent.tool('set', {
      delay: '50ms',
      wake_message: 'hello',
      ack: 'report',
      payload: { n: 1 },
    })
    expect(set.structured).toMatchObject({ created_via: 'mcp', target: 'inbox' })
    const [wake] = (await agent.tool('inbox', { wait: '20s' })).structured.items
    expect(wake).toMatchObject({ wake_message: 'hello', payload: { n: 1 } })
    await agent.tool('ack', { occurrence_id: wake.occurrence_id, complete: 'done' })
    expect((await agent.tool('why', { id: set.structured.id })).text).toMatch('reported complete: done')
    expect((await agent.tool('set', { when: 'never' })).text).toMatch(/^invalid_time: `when`: /)
    await agent.client.close()
  })

  it('keeps alarms, and is a standby while another process runs the clock', async () => {
    const [first, second] = [await spawned(['--db', db], {}, era), await spawned(['--db', db], {}, era)]
    expect((await second.tool('get', { key: 'later' })).structured.status).toBe('active')
    await first.tool('set', { delay: '10ms', wake_message: 'for either' })
    const [wake] = (await second.tool('inbox', { wait: '20s' })).structured.items
    expect(wake.wake_message).toBe('for either')
  })

  it('delivers to an application’s handler, and leaves the clock to that application', async () => {
    const agent = await spawned(['--db', db], {}, era)
    const application = await open(`sqlite:${db}`)
    const called = Promise.withResolvers<string>()
    application.handle('remind', ({ message }) => called.resolve(message))
    await application.start()
    await agent.tool('set', { delay: '10ms', target: 'remind', wake_message: 'for a handler' })
    expect(await called.promise).toBe('for a handler')
    await application.close()
  })

  it('acts as one owner, like every command', async () => {
    const [ann, all] = [
      await spawned(['--db', db, '--owner', 'ann'], {}, era),
      await spawned(['--db', db], {}, era),
    ]
    expect((await ann.tool('list')).structured.items).toEqual([])
    const { id } = (await ann.tool('set', { delay: '1h' })).structured
    expect((await all.tool('get', { id })).text).toMatch(/^not_found: /)
  })

  it('works through a server with a key, and says so when there is none', async () => {
    const server = await serving()
    const { json } = await server.call('POST', '/v1/keys', { tenant: 'acme', owner: 'ann' })
    const through = ['--url', server.url, '--timezone', 'Asia/Tokyo']
    const agent = await spawned(through, { WAKEFUL_KEY: json.key }, era)
    const { tools } = await agent.client.listTools()
    expect(tools).toHaveLength(11)
    expect(JSON.stringify(tools)).toMatch(/is read in Asia\/Tokyo.*Default: Asia\/Tokyo\./)
    expect((await agent.tool('preview', { when: 'tomorrow at 9am' })).text).toMatch(/09:00 Asia\/Tokyo/)
    expect((await agent.tool('list')).text).toMatch(/^It is now .* Asia\/Tokyo\.\n/)
    const elsewhere = { when: 'tomorrow at 9am', timezone: 'Europe/Rome' }
    expect((await agent.tool('preview', elsewhere)).text).toMatch(/09:00 Europe\/Rome/)
    const set = await agent.tool('set', { delay: '1h', key: 'k' })
    expect(set.text).toMatch(/^Set: .*to your inbox/)
    expect(await server.wakeful.forTenant('acme', 'ann').getByKey('k')).toMatchObject({ createdVia: 'mcp' })
    expect((await agent.tool('set', { when: 'x' })).text).toMatch(/^invalid_time: /)
    await expect(agent.tool('nonsense')).rejects.toThrow('There is no tool')
    const stranger = await spawned(['--url', server.url], { WAKEFUL_KEY: 'wk_0000000000000000_no' }, era)
    expect((await stranger.tool('list')).text).toMatch(/^unauthorized: /)
    await server.close()
    expect((await agent.tool('list')).text).toMatch(/^store_unavailable: No answer from http/)
  })
})

it('returns payloads byte for byte, and answers lines that are not messages', async () => {
  const raw = rawProcess(['--db', join(dir, 'raw.db')])
  const payload = '{"n":9007199254740993,"10":1,"9":[1.10,"é"]}'
  const set = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"set","arguments":{"delay":"1h","payload":${payload}}}}`
  expect((await raw.say(HELLO))[0]?.result.serverInfo.name).toBe('wakeful')
  const answers = await raw.say(
    '{"jsonrpc":',
    '[]',
    '{"jsonrpc":"2.0","id":{},"method":"x"}',
    'x'.repeat(3_000_000),
    set,
  )
  expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
    [null, -32700],
    [null, -32600],
    [null, -32600],
    [null, -32600],
    [2, undefined],
  ])
  expect(answers[0]?.error?.message).toMatch(/^The message is not JSON: /)
  expect(answers.at(-1)?.result.content[1].text).toContain(`"payload":${payload}`)
  expect(await raw.left()).toEqual({ code: 0, stderr: '' })
})

it.for(['stdin', 'SIGTERM', 'SIGINT'] as const)(
  'ends in order on %s, also while an agent waits',
  async (how) => {
    const raw = rawProcess(['--db', join(dir, `end-${how}.db`)])
    await raw.say(
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}',
    )
    raw.child.stdin.write(
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"inbox","arguments":{"wait":"60s"}}}\n',
    )
    await new Promise((resolve) => setTimeout(resolve, 200))
    if (how !== 'stdin') raw.child.kill(how)
    expect(await raw.left(how === 'stdin')).toEqual({ code: 0, stderr: '' })
  },
)

it('refuses bad usage on stderr, and writes nothing else to stdout', async () => {
  for (const args of [
    ['--db', 'x.db', '--url', 'http://x'],
    ['--url', 'nonsense'],
  ]) {
    const raw = rawProcess(args)
    const { code, stderr } = await raw.left()
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: .*--url/)])
    expect(raw.lines).toEqual([])
  }
})

async function spawned(
  args: readonly string[],
  env: Record<string, string>,
  era: (typeof ERAS)[number],
): Promise<Agent> {
  const client = newClient(era)
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [LAUNCH, 'mcp', ...args],
      env: { ...getDefaultEnvironment(), NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE!, ...env },
      cwd: dir,
    }),
  )
  return agentOf(client)
}

interface Line {
  readonly id: unknown
  readonly error?: { readonly code: number; readonly message: string }
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer.
  readonly result?: any
}

/** The real command, driven without a client. */
function rawProcess(args: readonly string[]) {
  const child = spawn(process.execPath, [LAUNCH, 'mcp', ...args], { cwd: dir, stdio: 'pipe' })
  const lines: Line[] = []
  const arrived = createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)))
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  return {
    child,
    lines,
    /** Sends lines, and waits for as many answers. */
    say: async (...sent: string[]) => {
      const from = lines.length
      child.stdin.write(sent.map((line) => `${line}\n`).join(''))
      while (lines.length < from + sent.length) {
        await Promise.race([once(arrived, 'line'), once(child, 'exit')])
        if (child.exitCode !== null) throw new Error(`it ended: ${stderr}`)
      }
      return lines.slice(from)
    },
    left: async (endsInput = true) => {
      if (endsInput) child.stdin.end()
      const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode]
      return { code, stderr }
    },
  }
}
