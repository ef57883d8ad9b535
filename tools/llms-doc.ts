/** Prints docs/llms.txt, the docs' index for agents (llmstxt.org): `node tools/llms-doc.ts > docs/llms.txt`. */
import { existsSync, globSync, readFileSync } from 'node:fs'

const HEAD = `# Wakeful

> Durable alarms. Set one, kill everything, be woken: by a function of yours, a signed webhook, or an inbox you ask. A TypeScript library and a service
> (\`wakeful serve\`, HTTP on 127.0.0.1:7420) on one SQLite file, or on PostgreSQL.

- Every page below is Markdown. The API describes itself at /openapi.json.
- JSON over the wire is snake_case, TypeScript camelCase. The zone over the network is UTC where a call names none.
- What a time means can be asked before it is set: \`POST /v1/preview\`. Why an alarm did or did not fire: \`GET /v1/alarms/{id}/why\`.
- A delivery may come twice, under the same \`occurrence_id\`. Setting the same \`key\` again moves that alarm; the same \`idempotency_key\` changes nothing.
`

/** Every page with its line, in the order in which somebody new would want them. */
const PAGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Start here': {
    'README.md': 'what it is, twenty lines to begin with, what is promised, how it compares',
    'docs/guides/serve.md':
      'the service: first start, keys, tenants, quotas, pauses, default targets, the inbox, proxies',
    'docs/guides/wake-an-agent.md':
      'an agent that sets its own wakes: by MCP, by HTTP, with and without a URL',
    'docs/guides/remind-a-user.md':
      'an application with reminders: zones, webhooks, moving by key, calendar feeds',
    'docs/guides/replace-cron.md':
      'crontab lines as alarms: missed ticks, overlap, zones, failures and silence',
    'docs/guides/delayed-jobs.md': 'jobs set and cancelled in your own transaction, on SQLite and PostgreSQL',
    'docs/troubleshooting.md': 'it did not fire, it was refused, the webhook failed: what each message means',
    'docs/coming-from.md':
      'from Alarm, Timer and Chronos; from cron, job queues, heartbeat monitors, cloud schedulers',
  },
  Reference: {
    'docs/reference/http.md': 'every call over HTTP, its fields, answers and refusals',
    'docs/reference/when.md':
      'what a time can be: instants, words, cron, RRULE, intervals, zones, days off, misses',
    'docs/reference/client.md': 'the TypeScript client, in Node and in browsers',
    'docs/reference/websocket.md':
      'calls and live events over one connection, and the log as server-sent events',
    'docs/reference/mcp.md': 'the tools of the Model Context Protocol, over HTTP and stdio',
    'docs/reference/library.md': 'every method, option, limit and error of the library',
    'docs/reference/cli.md': 'every command and option',
    'docs/reference/events.md': 'the log: every type of event and its data',
    'docs/reference/errors.md': 'the codes and reasons of refused calls',
    'docs/reference/lifecycle.md': 'states and events of an alarm, in one table',
    'docs/reference/configuration.md': 'every setting of the server: flag, variable, default',
    'docs/reference/limits.md':
      'what bounds connections, requests, responses, rates and quotas, and what happens beyond it',
    'docs/reference/metrics.md': 'every Prometheus metric',
  },
  Guides: {
    'docs/guides/webhooks.md':
      'bodies, signatures, answers, retries, circuits, which addresses are reached, secrets',
    'docs/guides/transactions.md':
      'setting in your transaction, and handlers whose writes commit with their fire',
    'docs/guides/testing.md': 'your own alarms under a virtual clock, with crashes',
    'docs/guides/several-processes.md': 'several processes on one SQLite file',
    'docs/guides/postgres.md': 'many processes on many machines; rights, poolers, moving from SQLite',
    'docs/guides/operations.md':
      'deployment, health, metrics, alerts, logs, backups, upgrades, what goes wrong',
  },
  'How it is made': {
    'docs/guarantees.md': 'what is promised, how each promise is tested, what is not promised',
    'docs/architecture.md': 'the code map: modules, paths, tables, where to add things',
    'docs/benchmark.md': 'how fast it is, against what, and how that is measured',
    'docs/guides/simulation.md': 'a world made from a seed, in which everything fails',
    'docs/guides/interleavings.md': 'every order of two processes’ statements on PostgreSQL',
    'docs/guides/postgres-chaos.md': 'PostgreSQL, broken on purpose',
    'CHANGELOG.md': 'what changed in which version',
  },
}

/** The index. A page that has no line in it yet is named, so that nothing is forgotten. */
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
  return `${HEAD}\n${sections.join('\n')}\n## Optional\n\nDecisions, with what was weighed and measured.\n\n${optional}\n`
}

function titleOf(page: string): string {
  return /^# (.+)$/m.exec(readFileSync(page, 'utf8'))![1]!.replaceAll('`', '')
}

if (import.meta.main) process.stdout.write(llmsDoc())
