import { describe, expect, it } from 'vitest'
import { serving } from '../harness.ts'
import { ERAS, httpAgent } from './agents.ts'

const server = await serving()
await server.wakeful.start()

const WALL = /[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?/
const NAMES = [
  'set',
  'list',
  'get',
  'cancel',
  'reschedule',
  'preview',
  'complete',
  'why',
  'inbox',
  'ack',
  'fail',
]

describe.for(ERAS)('an agent over HTTP (%s)', (era) => {
  const as = (owner: string) => httpAgent(server.url, { 'wakeful-owner': `${owner}-${era}` }, era)

  it('gets instructions and complete schemas', async () => {
    const { client } = await as('reader')
    expect(client.getServerVersion()).toMatchObject({ name: 'wakeful', version: '0.0.0' })
    expect(client.getInstructions()?.match(/\.(?: |$)/g)).toHaveLength(5)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(NAMES)
    expect(JSON.stringify(tools)).not.toMatch(/\$ref|\$defs/)
    for (const { inputSchema, outputSchema, description, annotations } of tools) {
      expect(description!.length).toBeGreaterThan(80)
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
      expect(outputSchema ?? { type: 'object' }).toMatchObject({ type: 'object' })
      expect(annotations).toMatchObject({ readOnlyHint: expect.any(Boolean), openWorldHint: false })
      for (const field of Object.values(inputSchema.properties ?? {}))
        expect(JSON.stringify(field)).toMatch(/"(?:description|enum)":/)
    }
    const hints = (name: string) => tools.find((tool) => tool.name === name)?.annotations
    expect(hints('list')).toMatchObject({ readOnlyHint: true, destructiveHint: false })
    expect(hints('cancel')).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
    })
    const list = tools.find((tool) => tool.name === 'list')!
    expect(list.inputSchema.properties).toMatchObject({ limit: { type: 'integer' } })
    const inbox = tools.find((tool) => tool.name === 'inbox')!
    expect(inbox.inputSchema.properties).toMatchObject({
      wait: { description: expect.stringMatching(/\(25s, at most 60s\)/), examples: ['25s'] },
      hold: { description: expect.stringMatching(/\(5m, at most 1h\)/), examples: ['5m'] },
    })
    expect(inbox.description).toMatch(/`wait` \(25s;.*`hold` \(5m\)/s)
    // A model reads all of it first.
    expect(JSON.stringify(tools).length).toBeLessThan(30_000)
  })

  it('gets an error in the words of the tool it called', async () => {
    const agent = await as('clumsy')
    const textOf = async (name: string, args: Record<string, unknown>) => (await agent.tool(name, args)).text
    expect(await textOf('list', { status: 'nope' })).toMatch(
      /`status` must be one of active, paused.*pending/,
    )
    expect(await textOf('set', { delay: 300 })).toMatch(/delay.*"300s"/)
    expect(await textOf('set', { fire_at: 1_900_000_000 })).toMatch(/fire_at.*"2030-01-01T09:00:00Z"/)
    const unknown = await textOf('ack', { occurrence_id: 'nobody' })
    expect(unknown).toMatch(/^not_found: .*\nCall `inbox`/)
    expect(unknown).not.toMatch('`list`')
  })

  it('sets an alarm, is woken by the inbox, acknowledges it, and asks why', async () => {
    const agent = await as('story')
    const set = await agent.tool('set', {
      delay: '1s',
      ack: 'report',
      label: 'tea',
      wake_message: 'take the tea out',
      conversation_id: 'c-1',
    })
    expect(set.text).toMatch(/^Set: \S+ "tea": fires .* UTC, (?:in 1s|now), to your inbox/)
    expect(set.text).toMatch('You named no target and have no default target')
    expect(set.structured).toMatchObject({ status: 'active', target: 'inbox', created_via: 'mcp' })
    const { text, structured } = await agent.tool('inbox', { wait: '20s' })
    const [wake] = structured.items
    expect(wake).toMatchObject({
      alarm_id: set.structured.id,
      wake_message: 'take the tea out',
      conversation_id: 'c-1',
      attempt: 1,
      tries: 1,
      lateness: expect.stringMatching(/^in time|late: /),
    })
    expect(text).toMatch(new RegExp(`Due ${WALL.source} UTC, delivered ${WALL.source} UTC: `))
    expect(text).toMatch('Message: take the tea out')
    expect(text).toMatch('It awaits a report')
    const ack = await agent.tool('ack', { occurrence_id: wake.occurrence_id, complete: 'it was good' })
    expect(ack).toMatchObject({ isError: false, structured: { acknowledged: true } })
    const why = await agent.tool('why', { id: set.structured.id })
    expect(why.text).toMatch(
      /is completed[\s\S]*set \(mcp\)[\s\S]*delivered[\s\S]*reported complete: it was good/,
    )
    expect(why.structured.story.map(({ type }: { type: string }) => type)).toEqual([
      'alarm.set',
      'alarm.fired',
      'alarm.completed',
    ])
    expect((await agent.tool('inbox', { wait: '0s' })).text).toMatch('none of your alarms is pending')
  })

  it('finds, moves and cancels an alarm by its key, and sees times in its zone', async () => {
    const agent = await as('keys')
    const rome = { timezone: 'Europe/Rome', key: 'standup', target: { event: true } }
    const set = await agent.tool('set', { cron_expr: '0 9 * * 1-5', label: 'Standup', ...rome })
    expect(set.text).toMatch(new RegExp(`fires ${WALL.source} Europe/Rome, in \\S+`))
    expect(set.text).toMatch('Rule: Monday to Friday at 09:00, in Europe/Rome.')
    expect(set.text).toMatch(/Then: (?:\w{3} \S+ 09:00 Europe\/Rome(?:; |\.)){3}/)
    expect((await agent.tool('set', { cron_expr: '0 8 * * 1-5', ...rome })).text).toMatch(/^Set again: /)
    const got = await agent.tool('get', { key: 'standup' })
    expect(got.structured).toMatchObject({ id: set.structured.id, cron_expr: '0 8 * * 1-5' })
    const seen = got.structured.updated_at
    const moved = await agent.tool('reschedule', {
      key: 'standup',
      when: 'every monday at 7am',
      updated_at: seen,
    })
    expect(moved.text).toMatch(/^Changed: [\s\S]*Rule: every Monday at 07:00, in Europe\/Rome/)
    const late = await agent.tool('cancel', { key: 'standup', updated_at: seen })
    expect([late.isError, late.text]).toEqual([
      true,
      expect.stringMatching(/^conflict: [\s\S]*Read it again with `get`/),
    ])
    const listed = await agent.tool('list', { order: 'due', limit: 5, since: '2h' })
    expect(listed.text).toMatch(
      /1 alarm:\n- \S+ \(key "standup"\): fires .*, every Monday at 07:00, in Europe\/Rome/,
    )
    expect((await agent.tool('cancel', { key: 'standup' })).structured.outcome).toBe('cancelled')
    expect((await agent.tool('cancel', { key: 'standup' })).structured.outcome).toBe('ended')
  })

  it('previews a time without setting anything', async () => {
    const agent = await as('preview')
    const seen = await agent.tool('preview', {
      when: 'every weekday at 9:30',
      timezone: 'America/New_York',
      instants: 2,
    })
    expect(seen.text).toMatch(/^Read as: Monday to Friday at 09:30, in America\/New_York\. It is now /)
    expect(seen.structured.instants).toHaveLength(2)
    expect((await agent.tool('list')).structured.items).toEqual([])
  })

  it('says when an idempotency key was known, and where a default target delivers', async () => {
    const agent = await as('again')
    await server.wakeful.forTenant('default', `again-${era}`).defaultTarget.put('inbox')
    const once = { delay: '1h', idempotency_key: 'i' }
    const first = await agent.tool('set', once)
    expect(first.text).toMatch(/to your default target\.$/)
    const again = await agent.tool('set', once)
    expect(again.text).toMatch(/^Already set, nothing changed: /)
    expect(again.structured).toMatchObject({ id: first.structured.id, deduped: true })
  })

  it('reports by alarm id, and learns that a failed attempt is retried and why', async () => {
    const agent = await as('report')
    const retry = { ack: 'report', backoff: { base_ms: 100 } }
    const { structured: alarm } = await agent.tool('set', { delay: '10ms', wake_message: 'try', ...retry })
    const [first] = (await agent.tool('inbox', { wait: '20s' })).structured.items
    await agent.tool('ack', { occurrence_id: first.occurrence_id, fail: 'the kettle is cold' })
    const second = await agent.tool('inbox', { wait: '20s' })
    expect(second.structured.items[0]).toMatchObject({ occurrence_id: first.occurrence_id, attempt: 2 })
    expect(second.structured.items[0].lateness).toMatch('the first attempt failed: the kettle is cold')
    await agent.tool('ack', { occurrence_id: first.occurrence_id })
    expect((await agent.tool('fail', { id: alarm.id, reason: 'still cold' })).text).toMatch(
      /^Reported failed: [\s\S]*try 3 of 5 .*; the last failed: still cold/,
    )
    await agent.tool('inbox', { wait: '20s' })
    expect((await agent.tool('complete', { id: alarm.id, result: 'hot now' })).structured).toMatchObject({
      status: 'completed',
      result: 'hot now',
    })
    const more = await agent.tool('complete', { id: alarm.id })
    expect([more.isError, more.text]).toEqual([true, expect.stringMatching(/^(?:already_ended|conflict): /)])
  })

  it('says that a wake was delivered before', async () => {
    const agent = await as('twice')
    await agent.tool('set', { delay: '10ms', wake_message: 'x' })
    await agent.tool('inbox', { wait: '20s', hold: '50ms' })
    const [wake] = (await agent.tool('inbox', { wait: '20s' })).structured.items
    expect(wake).toMatchObject({
      tries: 2,
      lateness: expect.stringContaining('handed out for the second time'),
    })
  })

  it('gets advice with each error', async () => {
    const agent = await as('wrong')
    const refusals: [string, Record<string, unknown>, RegExp][] = [
      ['set', { when: 'soonish' }, /^invalid_time: `when`: 'soonish'.*\nWrite the time in another way/],
      ['set', { when: 'tomorrow', delay: '1h' }, /^invalid_request: .*one of/],
      ['set', {}, /^invalid_request: .*one of/],
      [
        'set',
        { delay: '1h', wakeMessage: 'x' },
        /^invalid_request: Unknown argument "wakeMessage"\. Did you mean `wake_message`/,
      ],
      ['set', { cron_expr: '61 * * * *' }, /^invalid_rule: /],
      ['set', { when: 'tomorrow', timezone: 'Rome' }, /^invalid_timezone: .*\nUse an IANA name/],
      ['set', { delay: 5 }, /^invalid_request: .*delay.*"5s"/],
      ['set', { when: [] }, /^invalid_time: `when` must be a string, .*not a list/],
      ['set', { delay: '1h', target: '' }, /^invalid_request: `target` is empty/],
      ['set', { delay: '1h', target: 'event' }, /Did you mean {"event":true}\? .*{"handler":"event"}/],
      ['set', { cron: '0 9 * * *', message: 'x' }, /mean `cron_expr`\?.*mean `wake_message`\?/],
      ['set', { cron_expr: '0 9 * * *', exclude: 'eu' }, /no calendar 'eu'\. It has to be created first/],
      ['get', {}, /^invalid_request: .*\bid\b.*\bkey\b/i],
      ['get', { id: 'x', key: 'y' }, /^invalid_request: .*\bid\b.*\bkey\b/i],
      ['get', { key: 'nobody' }, /^not_found: .*\n`list` shows/],
      ['reschedule', { id: 'x' }, /^invalid_request: .*nothing to edit/i],
      ['inbox', { wait: '2m' }, /^invalid_request: .*wait.*60s/],
      ['ack', { occurrence_id: 'x', complete: 'a', fail: 'b' }, /^invalid_request: .*both/],
      ['list', { limit: 0 }, /^invalid_request: .*limit/],
    ]
    for (const [name, args, words] of refusals) {
      const { isError, text, json, structured } = await agent.tool(name, args)
      expect([name, isError, structured]).toEqual([name, true, undefined])
      expect(text).toMatch(words)
      expect(JSON.parse(json).code).toBe(text.split(':')[0])
    }
    await expect(agent.tool('set_alarm')).rejects.toThrow(/no tool "set_alarm".*set.*list/i)
    expect((await agent.tool('list')).structured.items).toEqual([])
  })
})

it('returns payloads byte for byte, whichever interface they were set through', async () => {
  const payload = '{"n":9007199254740993,"10":1,"9":[1.10, "é\\u00e9"],"__proto__":{"a":1e400}}'
  const owner = { 'wakeful-owner': 'bytes' }
  const set = await message(
    `{"name":"set","arguments":{"delay":"10ms","target":"inbox","payload":${payload}}}`,
    owner,
  )
  expect(set.json.result.content[1].text).toContain(`"payload":${payload}`)
  const { id } = set.json.result.structuredContent
  expect((await server.call('GET', `/v1/alarms/${id}`, undefined, owner)).text).toContain(
    `"payload":${payload}`,
  )
  // The structured content has all digits too; only a JSON parser loses them.
  expect(set.text).toContain('"n":9007199254740993')
  const inbox = await message('{"name":"inbox","arguments":{"wait":"20s"}}', owner)
  expect(inbox.json.result.content[1].text).toContain(`"payload":${payload}`)
  expect((await (await httpAgent(server.url, owner)).tool('get', { id })).json).toContain(
    `"payload":${payload}`,
  )
})

it('carries a trace from the call to the alarm, and ignores a malformed one', async () => {
  const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const owner = { 'wakeful-owner': 'trace' }
  const ids = []
  const set = '"name":"set","arguments":{"delay":"1h","target":"inbox"}'
  for (const [params, headers] of [
    [`{${set},"_meta":{"traceparent":"${trace}"}}`, {}],
    [`{${set}}`, { traceparent: trace }],
    [`{${set}}`, { traceparent: 'nonsense' }],
  ] as const)
    ids.push((await message(params, { ...owner, ...headers })).json.result.structuredContent.id as string)
  const alarms = server.wakeful.forTenant('default', 'trace')
  const traces = await Promise.all(ids.map(async (id) => (await alarms.get(id))?.traceparent))
  expect(traces).toEqual([trace, trace, null])
})

it('has logged no error', () => {
  expect(server.errors).toEqual([])
  expect(server.lines.filter((line) => line.includes('"level":"error"'))).toEqual([])
})

function message(params: string, headers: Record<string, string>) {
  const text = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`
  return server.call('POST', '/mcp', text, { accept: 'application/json, text/event-stream', ...headers })
}
