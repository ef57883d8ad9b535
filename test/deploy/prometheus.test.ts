import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { command, serve } from '../server/cli-process.ts'
import { caller } from '../server/harness.ts'
import { promtool, startPrometheus } from './prometheus.ts'

const RULES = resolve('deploy/prometheus/alerts.yaml')
const folder = mkdtempSync(join(tmpdir(), 'wakeful-rules-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A series of one process, with its values every 15 s. */
type Samples = readonly [series: string, values: string]

interface Case {
  readonly alert: string
  /** Its values in the normal case, and in the case of an alert. */
  readonly well: readonly Samples[]
  readonly ill: readonly Samples[]
  readonly labels: Readonly<Record<string, string>>
  readonly summary: string
  readonly description: string
}

const HERE = 'instance="a:7420",job="wakeful"'
const PLACE = { instance: 'a:7420', job: 'wakeful' }
const critical = { severity: 'critical' }
const warning = { severity: 'warning' }
const AT = '40m'

const CASES: readonly Case[] = [
  {
    alert: 'WakefulDown',
    well: [[`up{${HERE}}`, '0 0 1x200']],
    ill: [[`up{${HERE}}`, '1x100 0x100']],
    labels: { ...critical, ...PLACE },
    summary: 'Wakeful does not answer on a:7420',
    description:
      'Alarms still fire if another process runs their clock. See whether it does (wakeful doctor), then start this one.',
  },
  {
    alert: 'WakefulAllDown',
    well: [[`wakeful_build_info{${HERE},version="1",node="1"}`, '1x200']],
    ill: [],
    labels: critical,
    summary: 'No Wakeful answers at all',
    description: 'Nothing fires. What was missed fires, or is logged as skipped, when one is started again.',
  },
  {
    alert: 'WakefulStoreDown',
    well: [[`wakeful_store_up{${HERE}}`, '1x150 0 1x50']],
    ill: [[`wakeful_store_up{${HERE}}`, '1x150 0x50']],
    labels: { ...critical, ...PLACE },
    summary: 'The store does not answer a:7420, or takes no writes',
    description: 'Nothing can be set and nothing fires until it does. It goes on by itself then.',
  },
  {
    alert: 'WakefulStoreErrors',
    well: [[`wakeful_store_errors_total{${HERE},call="claim"}`, '0x100 3x100']],
    ill: [[`wakeful_store_errors_total{${HERE},call="claim"}`, '0x100 0+3x100']],
    labels: { ...warning, instance: 'a:7420', call: 'claim' },
    summary: 'The store fails calls of claim on a:7420',
    description:
      'The log has the error (type error). The usual ones are a full disk, a lost connection and a lock that another process has.',
  },
  {
    alert: 'WakefulLag',
    well: [[`wakeful_lag_seconds{${HERE},pool="default"}`, '0x150 40 0x50']],
    ill: [
      [`wakeful_lag_seconds{${HERE},pool="default"}`, '0x100 45x100'],
      ['wakeful_lag_seconds{instance="b:7420",job="wakeful",pool="default"}', '0x200'],
    ],
    labels: { ...critical, pool: 'default' },
    summary: 'What is due in pool default waits',
    description:
      'The oldest has waited for 45 s. Either all hands are busy (wakeful_in_flight at the concurrency) or the store is slow (wakeful_settle_duration_seconds).',
  },
  {
    alert: 'WakefulSecretMissing',
    well: [[`wakeful_secret_ok{${HERE}}`, '1x200']],
    ill: [[`wakeful_secret_ok{${HERE}}`, '1x100 0x100']],
    labels: { ...warning, ...PLACE },
    summary: 'a:7420 lacks the secret of its store, and sends no webhooks',
    description: 'The other processes send them. Give this one the same WAKEFUL_SECRET and start it again.',
  },
  {
    alert: 'WakefulNoOwner',
    well: [
      [`wakeful_shards{${HERE},pool="mail",owner="nobody"}`, '64x200'],
      [`wakeful_lag_seconds{${HERE},pool="mail"}`, '0x200'],
    ],
    ill: [
      [`wakeful_shards{${HERE},pool="mail",owner="nobody"}`, '64x200'],
      [`wakeful_lag_seconds{${HERE},pool="mail"}`, '0x140 20x60'],
    ],
    labels: { ...critical, pool: 'mail' },
    summary: 'No process fires the alarms of pool mail, and something is due there',
    description:
      'Start a process that serves this pool. The shards of a dead one are taken over within seconds, so that none is left.',
  },
  {
    alert: 'WakefulHandlerMissing',
    well: [[`wakeful_without_handler_seconds{${HERE},pool="app"}`, '0x150 40 0x50']],
    ill: [[`wakeful_without_handler_seconds{${HERE},pool="app"}`, '0x100 90x100']],
    labels: { ...warning, pool: 'app' },
    summary: 'Alarms of pool app are due, and no process has registered their handler',
    description:
      "They wait, uncounted. The log and wakeful doctor name the handler. Start a process that registers it, or correct the alarms' target.",
  },
  {
    alert: 'WakefulLate',
    well: [
      [`wakeful_fire_lateness_seconds_bucket{${HERE},target="webhook",le="1"}`, '0+99.5x200'],
      [`wakeful_fire_lateness_seconds_bucket{${HERE},target="webhook",le="+Inf"}`, '0+100x200'],
      // A circuit is open.
      [`wakeful_fire_deferred_seconds_bucket{${HERE},target="webhook",le="900"}`, '0x200'],
      [`wakeful_fire_deferred_seconds_bucket{${HERE},target="webhook",le="+Inf"}`, '0+100x200'],
    ],
    ill: [
      [`wakeful_fire_lateness_seconds_bucket{${HERE},target="webhook",le="5"}`, '0x200'],
      [`wakeful_fire_lateness_seconds_bucket{${HERE},target="webhook",le="10"}`, '0+100x200'],
      [`wakeful_fire_lateness_seconds_bucket{${HERE},target="webhook",le="+Inf"}`, '0+100x200'],
    ],
    labels: warning,
    summary: 'One fire in a hundred is more than 5 s late',
    description:
      'The 99th percentile of lateness is 9.95 s. What a limit, a pause or an open circuit deferred does not count.',
  },
  {
    alert: 'WakefulFailures',
    well: [
      [`wakeful_attempts_total{${HERE},target="webhook",outcome="failed"}`, '0+1x200'],
      [`wakeful_attempts_total{${HERE},target="webhook",outcome="delivered"}`, '0+99x200'],
    ],
    ill: [
      [`wakeful_attempts_total{${HERE},target="webhook",outcome="failed"}`, '0+10x200'],
      [`wakeful_attempts_total{${HERE},target="webhook",outcome="delivered"}`, '0+90x200'],
      [`wakeful_attempts_total{${HERE},target="event",outcome="delivered"}`, '0+90x200'],
    ],
    labels: { ...warning, target: 'webhook' },
    summary: 'More than 5% of the deliveries to webhook targets fail for good',
    description: 'wakeful failed shows the newest with their errors.',
  },
  {
    alert: 'WakefulReportsOverdue',
    well: [[`wakeful_reports_overdue_total{${HERE}}`, '0+1x200']],
    ill: [[`wakeful_reports_overdue_total{${HERE}}`, '0+3x200']],
    labels: { ...warning, ...PLACE },
    summary: 'Reports of delivered alarms do not come',
    description: 'Their targets take the wake and do not say what came of it.',
  },
  {
    alert: 'WakefulMisfires',
    well: [[`wakeful_skipped_total{${HERE},reason="misfire"}`, '150x200']],
    // Skipped by a process that has just been started, before it was scraped for the first time.
    ill: [[`wakeful_skipped_total{${HERE},reason="misfire"}`, '_x140 150x60']],
    labels: warning,
    summary: 'Occurrences were skipped because they were missed',
    description: '150 in 15 minutes, or since the start: the clock stood still for longer than the grace.',
  },
  {
    alert: 'WakefulServerErrors',
    well: [[`wakeful_http_requests_total{${HERE},method="GET",route="/v1/stats",status="404"}`, '0+9x200']],
    ill: [[`wakeful_http_requests_total{${HERE},method="GET",route="/v1/stats",status="500"}`, '0+3x200']],
    labels: { ...warning, route: '/v1/stats' },
    summary: 'Requests to /v1/stats fail',
    description: 'The log has a line for each, with its request_id and the error.',
  },
  {
    alert: 'WakefulClockOff',
    well: [[`wakeful_clock_correction_seconds{${HERE}}`, '-2x200']],
    ill: [[`wakeful_clock_correction_seconds{${HERE}}`, '-7x200']],
    labels: { ...warning, ...PLACE },
    summary: "The clock of a:7420 is 7 s off the store's",
    description:
      "Alarms follow the store's clock and are on time. Other programs on this machine may not be.",
  },
]

describe('the rules', () => {
  it('are valid for Prometheus', () => {
    expect(promtool('check', 'rules', RULES)).toContain(`SUCCESS: ${CASES.length} rules found`)
    expect(
      promtool('check', 'config', '--syntax-only', resolve('deploy/prometheus/prometheus.yaml')),
    ).toContain('SUCCESS')
  })

  it.each(CASES)('$alert fires when it should, and not otherwise', (testCase) => {
    const { alert, well, ill, labels, summary, description } = testCase
    const alerts = [{ exp_labels: labels, exp_annotations: { summary, description } }]
    const test = (samples: readonly Samples[], expected: readonly object[]) => ({
      interval: '15s',
      input_series: samples.map(([series, values]) => ({ series, values })),
      alert_rule_test: [{ eval_time: AT, alertname: alert, exp_alerts: expected }],
    })
    const file = join(folder, `${alert}.json`)
    const tests = [test(well, []), test(ill, alerts)]
    writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '15s', tests }))
    expect(promtool('test', 'rules', file)).toContain('SUCCESS')
  })
})

it('a real Prometheus scrapes with a key, and answers every query of the rules and the board', {
  timeout: 120_000,
}, async () => {
  const env = { WAKEFUL_DB: join(folder, 'alarms.db') }
  const printed = await command(
    ['keys', 'create', '--tenant', '*', '--rights', 'admin', '--json'],
    env,
    folder,
  )
  const { key } = JSON.parse(printed) as { key: string }
  const { url, child, ended } = await serve([], env, folder)
  const call = caller(url, { authorization: `Bearer ${key}` })
  expect((await call('POST', '/v1/alarms', { delay: '1ms', target: { event: true } })).status).toBe(201)
  const prometheus = await startPrometheus(new URL(url), key)
  try {
    const value = async (query: string) => {
      const answer = (await prometheus.api('query', { query })) as {
        status: string
        data: { result: { value: [number, string] }[] }
      }
      expect([query, answer.status]).toEqual([query, 'success'])
      return answer.data.result[0]?.value[1]
    }
    await vi.waitFor(async () => expect(await value('up{job="wakeful"}')).toBe('1'), 30_000)
    await vi.waitFor(
      async () => expect(await value('sum(wakeful_attempts_total{outcome="delivered"})')).toBe('1'),
      30_000,
    )
    for (const query of boardQueries()) await value(query)
    await vi.waitFor(async () => {
      const { data } = (await prometheus.api('rules')) as {
        data: { groups: { rules: { name: string; health: string }[] }[] }
      }
      const rules = data.groups.flatMap((group) => group.rules)
      expect(rules.map(({ name, health }) => [name, health])).toEqual(CASES.map(({ alert }) => [alert, 'ok']))
    }, 30_000)
    // Before the first scrape it looked as if there were none.
    await vi.waitFor(async () => {
      const { data } = (await prometheus.api('alerts')) as { data: { alerts: unknown[] } }
      expect(data.alerts).toEqual([])
    }, 30_000)
  } finally {
    await prometheus.stop()
    child.kill()
    await ended
  }
})

/** The board's queries, with values for Grafana's variables. */
function boardQueries(): string[] {
  const board = JSON.parse(readFileSync('deploy/grafana/wakeful.json', 'utf8')) as {
    panels: { targets: { expr: string }[] }[]
  }
  return board.panels.flatMap(({ targets }) =>
    targets.map(({ expr }) =>
      expr.replaceAll('$__rate_interval', '1m').replaceAll('$__range', '1h').replace(/\$\w+/g, '.*'),
    ),
  )
}
