/** Prints docs/llms.txt, the docs' index for agents (llmstxt.org): `node tools/llms-doc.ts > docs/llms.txt`. */
import { existsSync, globSync, readFileSync } from 'node:fs'

const HEAD = `# Wakeful

> Durable alarms. At the time you set, Wakeful calls your function, sends a signed webhook or puts a message in an inbox that you poll, even if every process
> crashed in between. It is a TypeScript library and a service (\`wakeful serve\`, HTTP on 127.0.0.1:7420) on one SQLite file or on PostgreSQL.

- Every page below is Markdown. /openapi.json describes the HTTP API.
- JSON over HTTP uses snake_case, TypeScript camelCase. Over HTTP the default time zone is UTC.
- To see what a time means before you set it, call \`POST /v1/preview\`. To see why an alarm did or did not fire, call \`GET /v1/alarms/{id}/why\`.
- Expect an occasional duplicate, with the same \`occurrence_id\`. Setting the same \`key\` again replaces that alarm; repeating an \`idempotency_key\` changes nothing.
`

/** Every page with its description, in the order in which a new reader needs them. */
const PAGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Start here': {
    'README.md': 'what Wakeful is, a first program, the guarantees, a comparison with others',
    'docs/guides/serve.md': 'first start, keys, tenants, quotas, pauses, default targets, the inbox, proxies',
    'docs/guides/wake-an-agent.md':
      'agents that set alarms for themselves: over MCP or HTTP, with or without a URL',
    'docs/guides/remind-a-user.md':
      'reminders in an application: time zones, webhooks, rescheduling by key, calendar subscriptions',
    'docs/guides/replace-cron.md':
      'crontab lines as alarms: missed runs, overlap, time zones, failures, jobs that stop running',
    'docs/guides/delayed-jobs.md': 'jobs set and cancelled in your own transaction, on SQLite and PostgreSQL',
    'docs/troubleshooting.md':
      'an alarm did not fire, a call was rejected, a webhook failed: causes and fixes',
    'docs/coming-from.md':
      'the equivalents of calls and terms of Alarm, Timer, Chronos, cron, job queues, heartbeat monitors and cloud schedulers',
  },
  Reference: {
    'docs/reference/http.md': 'every HTTP call, its fields, responses and errors',
    'docs/reference/when.md':
      'all ways to give a time: instants, plain language, cron, RRULE, intervals, time zones, days off, missed occurrences',
    'docs/reference/client.md': 'the TypeScript client, in Node and in browsers',
    'docs/reference/websocket.md': 'calls and live events over one connection',
    'docs/reference/mcp.md': 'the MCP (Model Context Protocol) tools, over HTTP and stdio',
    'docs/reference/library.md': 'every method, option, limit and error of the library',
    'docs/reference/cli.md': 'every command and option',
    'docs/reference/events.md': 'the event log: every type of event and its data, and server-sent events',
    'docs/reference/errors.md': 'every error code and reason',
    'docs/reference/lifecycle.md': 'the states of an alarm and the transitions between them',
    'docs/reference/configuration.md': 'every setting of the server: flag, variable, value, default',
    'docs/reference/limits.md':
      'limits on connections, requests, responses, rates and quotas, and what happens when they are exceeded',
    'docs/reference/metrics.md': 'every Prometheus metric',
  },
  Guides: {
    'docs/guides/webhooks.md':
      'bodies, signatures, responses, retries, circuit breakers, allowed addresses, secrets',
    'docs/guides/transactions.md':
      'alarms set in your own transaction, and handlers whose writes commit with the result',
    'docs/guides/testing.md': 'tests of your alarms with a virtual clock and simulated crashes',
    'docs/guides/several-processes.md': 'several processes on one SQLite file',
    'docs/guides/postgres.md': 'many processes on many machines: privileges, poolers, moving from SQLite',
    'docs/guides/operations.md':
      'deployment, health, metrics, alerts, logs, backups, upgrades, problems and fixes',
  },
  'Tests and internals': {
    'docs/guarantees.md': 'what is guaranteed, how each guarantee is tested, what is not guaranteed',
    'docs/architecture.md': 'the code: modules, tables, where to add things',
    'docs/benchmark.md': 'speed, compared with other schedulers, and how it is measured',
    'docs/guides/simulation.md': 'tests of simulated clusters with random faults, repeatable by seed',
    'docs/guides/interleavings.md':
      'tests of every order of the statements of concurrent processes on PostgreSQL',
    'docs/guides/postgres-chaos.md': 'tests with real faults on PostgreSQL',
    'CHANGELOG.md': 'what changed in each version',
  },
}

/** The index. A page without a description is an error, so that none is left out. */
export function llmsDoc(): string {
  const decisions = globSync('docs/decisions/*.md').sort()
  const listed = new Set([...Object.values(PAGES).flatMap(Object.keys), ...decisions])
  const forgotten = globSync('docs/**/*.md').filter((page) => !listed.has(page))
  if (forgotten.length > 0) throw new Error(`no line in tools/llms-doc.ts for ${forgotten.join(', ')}`)
  const sections = Object.entries(PAGES).map(([title, pages]) => {
    const lines = Object.entries(pages)
      .filter(([page]) => existsSync(page))
      .map(([page, line]) => `- [${titleOf(page)}](/${page}): ${line}`)
    return `## ${title}\n\n${lines.join('\n')}\n`
  })
  const optional = decisions.map((page) => `- [${titleOf(page)}](/${page})`).join('\n')
  return `${HEAD}\n${sections.join('\n')}\n## Optional\n\nDecisions, with alternatives and measurements.\n\n${optional}\n`
}

function titleOf(page: string): string {
  return /^# (.+)$/m.exec(readFileSync(page, 'utf8'))![1]!.replaceAll('`', '')
}

if (import.meta.main) process.stdout.write(llmsDoc())
