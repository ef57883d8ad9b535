import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { nameOf, SETTING_LIST } from '../src/config/index.ts'

type Unit = 'count' | 'ms' | 'bytes'

/** What a row of docs/reference/limits.md says, by the start of its first cell, and the constant that makes it so. */
const CONSTANTS: Readonly<Record<string, readonly [file: string, constant: string, unit: Unit]>> = {
  'TCP connections': ['server/listener.ts', 'CONNECTIONS_MAX', 'count'],
  'WebSockets and event streams. Each': ['server/live/live.ts', 'connectionsMax', 'count'],
  'calls that wait for messages': ['server/limits/connection-limiter.ts', 'WAITING_MAX', 'count'],
  'time that one call waits': ['library/inbox.ts', 'WAIT_MS_MAX', 'ms'],
  'time to send the headers': ['server/listener.ts', 'HEADERS_MS_MAX', 'ms'],
  'time to send a whole request': ['server/listener.ts', 'REQUEST_MS_MAX', 'ms'],
  'idle time': ['server/listener.ts', 'IDLE_MS_MAX', 'ms'],
  'time without an answer to a WebSocket ping': ['server/live/live.ts', 'heartbeatMs', 'ms'],
  'time to answer the close frame': ['server/live/ws-session.ts', 'CLOSE_MS', 'ms'],
  'validity of a ticket': ['server/auth/ticket-store.ts', 'VALID_MS', 'ms'],
  'headers of a request': ['server/listener.ts', 'HEADER_BYTES_MAX', 'bytes'],
  'body of a request': ['server/server.ts', 'BODY_BYTES_MAX', 'bytes'],
  'chunks of a body': ['server/http/request.ts', 'CHUNKS_MAX', 'count'],
  'bodies that are being received': ['server/limits/http-limits.ts', 'bodiesBytesMax', 'bytes'],
  'pipelined requests, sent': ['server/limits/http-limits.ts', 'PIPELINED_PAUSE', 'count'],
  'pipelined requests in one packet': ['server/limits/http-limits.ts', 'PIPELINED_MAX', 'count'],
  'levels of nested JSON': ['json/json.ts', 'DEPTH_MAX', 'count'],
  'alarms in one batch': ['alarm/fields/check.ts', 'batchMax', 'count'],
  'alarms that `POST /v1/alarms/actions`': ['library/bulk.ts', 'MATCHED_MAX', 'count'],
  'refused alarms': ['library/bulk.ts', 'REFUSED_LISTED_MAX', 'count'],
  'instants of a preview': ['time/when/preview.ts', 'COUNT_MAX', 'count'],
  'line of MCP over stdio': ['server/mcp/stdio.ts', 'LINE_CHARS_MAX', 'count'],
  'messages (`RateLimiter`)': ['server/live/live.ts', 'messagesPerSecond', 'count'],
  'message of a WebSocket': ['server/live/live.ts', 'messageBytesMax', 'bytes'],
  'calls that run at the same time': ['server/live/ws-session.ts', 'CONCURRENT_CALLS_MAX', 'count'],
  'waiting calls, in bytes': ['server/live/live.ts', 'messageBytesMax', 'bytes'],
  subscriptions: ['server/live/ws-session.ts', 'SUBSCRIPTIONS_MAX', 'count'],
  'lists, history': ['server/calls/build-calls.ts', 'PAGES.concurrency', 'count'],
  'of these, waiting |': ['server/calls/build-calls.ts', 'PAGES.waitingMax', 'count'],
  '`POST /v1/alarms/batch` at': ['server/calls/build-calls.ts', 'BATCHES.concurrency', 'count'],
  'of these, waiting for one owner': ['server/calls/build-calls.ts', 'BATCHES.waitingMax', 'count'],
  'of these, waiting in total': ['server/calls/build-calls.ts', 'BATCHES.totalWaitingMax', 'count'],
  '`POST /v1/alarms/actions` at': ['server/calls/build-calls.ts', 'ACTS.concurrency', 'count'],
  'of these actions': ['server/calls/build-calls.ts', 'ACTS.waitingMax', 'count'],
  'all other operations': ['server/calls/build-calls.ts', 'OTHERS.concurrency', 'count'],
  'of all others': ['server/calls/build-calls.ts', 'OTHERS.waitingMax', 'count'],
  'live readers': ['server/limits/event-read-limiter.ts', 'READERS', 'count'],
  'log that one of them reads': ['server/limits/event-read-limiter.ts', 'READ_BYTES', 'bytes'],
  'rows that a list': ['stores/list.ts', 'ROWS_READ_MAX', 'count'],
  'items of a page': ['alarm/fields/check.ts', 'listMax', 'count'],
  'bytes of a page': ['stores/page-size.ts', 'PAGE_BYTES_MAX', 'bytes'],
  'messages of one read': ['library/inbox.ts', 'LIMIT_MAX', 'count'],
  'calendar feed: alarms': ['server/calls/calendar-feed.ts', 'ALARMS_MAX', 'count'],
  'calendar feed: how far': ['server/calls/calendar-feed.ts', 'AHEAD_MS', 'ms'],
  'calendar feed: entries of one': ['server/calls/calendar-feed.ts', 'PER_ALARM_MAX', 'count'],
  'calendar feed: entries |': ['server/calls/calendar-feed.ts', 'ENTRIES_MAX', 'count'],
  'calendar feed: size': ['server/calls/calendar-feed.ts', 'BYTES_MAX', 'bytes'],
  'errors of fields': ['server/http/wrong-fields.ts', 'ISSUES_MAX', 'count'],
  'time without progress while a client reads a response': ['server/limits/http-limits.ts', 'stallMs', 'ms'],
  'unread responses': ['server/limits/http-limits.ts', 'unreadBytesMax', 'bytes'],
  'unread messages of one WebSocket': ['server/live/live.ts', 'bufferBytesMax', 'bytes'],
  'unread messages of all': ['server/live/ws-endpoint.ts', 'UNREAD_BYTES_MAX', 'bytes'],
  'time without progress while a client reads a WebSocket': ['server/live/live.ts', 'stallMs', 'ms'],
  'time to read the end': ['server/live/event-stream.ts', 'CLOSE_MS', 'ms'],
  'wait in the queue of an endpoint': ['targets/endpoint.ts', 'QUEUE_MS_MAX', 'ms'],
  'queue of an endpoint': ['targets/endpoint.ts', 'QUEUE_MAX', 'count'],
  'connections to one origin': ['hosts/node/webhook-transport.ts', 'CONNECTIONS_MAX', 'count'],
  'time to connect': ['hosts/node/webhook-transport.ts', 'CONNECT_MS_MAX', 'ms'],
  'headers of a webhook’s response': ['hosts/node/webhook-transport.ts', 'HEADERS_BYTES_MAX', 'bytes'],
  'body of a webhook’s response': ['hosts/node/webhook-transport.ts', 'BODY_BYTES_MAX', 'bytes'],
  'body of a webhook after': ['targets/webhook-template.ts', 'FILLED_BYTES_MAX', 'bytes'],
  'open occurrences': ['alarm/decisions/triage.ts', 'OPEN_OCCURRENCES_MAX', 'count'],
  'messages in an inbox': ['targets/built-in.ts', 'WAKES_MAX', 'count'],
  'calendars of days off': ['library/calendars.ts', 'CALENDARS_MAX', 'count'],
  'pools that alarms name': ['alarm/model/target.ts', 'POOLS_MAX', 'count'],
  'former webhook secrets': ['hosts/node/webhook-secrets.ts', 'FORMERS_MAX', 'count'],
  'connections to PostgreSQL for calls': [
    'stores/postgres/connection/database.ts',
    'CONNECTIONS_MAX',
    'count',
  ],
  'connections to PostgreSQL for transactional': [
    'stores/postgres/connection/database.ts',
    'HANDLER_CONNECTIONS_MAX',
    'count',
  ],
  'the same error in the log': ['server/limits/log-throttle.ts', 'INTERVAL_MS', 'ms'],
  'errors that are compared': ['server/limits/log-throttle.ts', 'MESSAGES_MAX', 'count'],
  'text in a line of the log': ['redaction/redact.ts', 'TEXT_MAX', 'count'],
  'routes that are labels': ['server/observability/metrics.ts', 'ROUTES_MAX', 'count'],
  'pools that are labels': ['server/observability/metrics.ts', 'POOLS_MAX', 'count'],
  'reading the store for': ['server/observability/store-reads.ts', 'FRESH_MS', 'ms'],
  'time for the store to answer `/metrics`': ['server/observability/store-reads.ts', 'SCRAPE_MS_MAX', 'ms'],
  'time for the store to answer `/readyz`': ['server/server.ts', 'READY_TIMEOUT_MS', 'ms'],
  'time for running requests': ['cli/serve/serve.ts', 'HTTP_DRAIN_MS_MAX', 'ms'],
}

/** Bounds of the server that no caller meets: what caches remember, and how texts are shortened. */
const INTERNAL = new Set([
  'server/auth/authenticator.ts ALARMS_MAX',
  'server/auth/ticket-store.ts SWEPT_MAX',
  'server/calls/calendar-feed.ts LINE_OCTETS_MAX',
  'server/calls/calendar-feed.ts TEXT_MAX',
  'server/limits/active-alarm-count.ts COUNT_MS_MAX',
  'server/limits/quotas.ts COUNTS_MAX',
  'server/limits/rate-limiter.ts BUCKETS_MAX',
  'server/calls/reads.ts PAGES_READ_MAX',
  'server/live/seed-calls.ts LIST_MAX',
  'server/mcp/alarm-text.ts NAME_LENGTH_MAX',
  'server/mcp/remote-tools.ts LIST_MS_MAX',
  'server/mcp/wake-tools.ts MESSAGE_LENGTH_MAX',
  'server/observability/metrics-access.ts REMEMBERED_MAX',
  'server/observability/store-reads.ts READ_MS_MAX',
])

const source = (file: string) => readFileSync(new URL(`../src/${file}`, import.meta.url), 'utf8')
const page = readFileSync(new URL('../docs/reference/limits.md', import.meta.url), 'utf8')
const table = page.slice(0, page.indexOf('## Quotas')).replaceAll("'", '’')

/** The rows of the table without its head and its groups. */
const rows = table
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| **') && !line.startsWith('| what'))
  .map((line) => ({
    line: line.slice(2),
    cells: line
      .slice(2, -1)
      .split('|')
      .map((cell) => cell.trim()),
  }))

/** The number that a constant, a field of one, or a default has. */
function numberOf(file: string, constant: string): number {
  const [object, field] = constant.split('.')
  const whole = source(file)
  const text = field === undefined ? whole : new RegExp(`const ${object} = (\\{.*\\})`).exec(whole)![1]!
  const found = new RegExp(`\\b${field ?? constant}(?: =|:) (\\d[\\d_* ]*(?:MIB)?|MIB)`).exec(text)
  if (found === null) throw new Error(`there is no number ${constant} in src/${file}`)
  const factors = found[1]!.trim().replaceAll('_', '').replace('MIB', '1048576').split(' * ')
  return factors
    .map((each) => each.split(' ** ').map(Number))
    .reduce((product, [base, power = 1]) => product * base! ** power, 1)
}

function formatted(value: number, unit: Unit): string {
  if (unit === 'count') return value.toLocaleString('en')
  const scales: readonly [number, string][] =
    unit === 'bytes'
      ? [
          [2 ** 20, 'MiB'],
          [2 ** 10, 'KiB'],
        ]
      : [
          [86_400_000, 'days'],
          [1_000, 's'],
          [1, 'ms'],
        ]
  const [size, symbol] = scales.find(([each]) => value >= each && value % each === 0)!
  return `${value / size} ${symbol}`
}

it('the page of limits has the numbers of the code', () => {
  for (const [start, [file, constant, unit]] of Object.entries(CONSTANTS)) {
    const found = rows.filter(({ line }) => line.startsWith(start))
    expect([start, found.length]).toEqual([start, 1])
    const limit = found[0]!.cells[1]!
    const number = formatted(numberOf(file, constant), unit)
    expect([start, limit.split(' ').slice(0, number.split(' ').length).join(' ')]).toEqual([start, number])
  }
})

it('the page of limits has the defaults of the settings', () => {
  const settings = new Map(SETTING_LIST.map(([key, setting]) => [nameOf(key), setting.default]))
  const named = rows.filter(({ cells }) => cells[4] !== '')
  expect(named.length).toBeGreaterThan(10)
  for (const { cells } of named) {
    const value = settings.get(cells[4]!.replaceAll('`', ''))
    const isBytes = cells[4]!.includes('bytes')
    const expected =
      typeof value === 'string'
        ? value.replace(/(\d)([a-z])/, '$1 $2')
        : formatted(value as number, isBytes ? 'bytes' : 'count')
    expect([cells[0], cells[1]!.replace(' per second', '')]).toEqual([cells[0], expected])
  }
})

it('every limit of the page is a constant or a setting', () => {
  const starts = Object.keys(CONSTANTS)
  const unknown = rows.filter(
    ({ line, cells }) => cells[4] === '' && !starts.some((start) => line.startsWith(start)),
  )
  // Half of a setting.
  expect(unknown.map(({ cells }) => cells[1])).toEqual(['half of `ws_connections_max`'])
})

it('every maximum in the server is on the page, or no caller meets it', () => {
  const listed = new Set(Object.values(CONSTANTS).map(([file, constant]) => `${file} ${constant}`))
  const missing: string[] = []
  const files = globSync('src/server/**/*.ts').filter((path) => !path.endsWith('.test.ts'))
  for (const path of files) {
    const file = path.slice('src/'.length)
    for (const [, name] of source(file).matchAll(/^(?:export )?const ([A-Z_]*MAX) =/gm)) {
      const constant = `${file} ${name}`
      if (!listed.has(constant) && !INTERNAL.delete(constant)) missing.push(constant)
    }
  }
  expect({ missing, gone: [...INTERNAL] }).toEqual({ missing: [], gone: [] })
})
