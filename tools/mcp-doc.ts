/** Prints docs/reference/mcp.md from the tools themselves: `node tools/mcp-doc.ts > docs/reference/mcp.md`. */
import { instructions, listedTools } from '../src/server/mcp/index.ts'

const HEAD = `<!-- Written by tools/mcp-doc.ts from src/server/mcp: change that, then run \`npm run docs\`. -->

# Tools for agents (MCP)

The Model Context Protocol, over streamable HTTP at \`/mcp\` of [a server](http.md) and over stdio by [\`wakeful mcp\`](cli.md#mcp).
[Wake an agent](../guides/wake-an-agent.md) is the guide; this page lists what a client sees.

- **Protocol versions**: 2026-07-28, and earlier ones with \`initialize\`. Over HTTP every request is independent:
  there are no sessions and no streams, so any process behind a load balancer can answer.
- **Authentication** is as in the HTTP API: \`Authorization: Bearer wk_…\`, with \`Wakeful-Owner\` and \`Wakeful-Tenant\` if the key allows several.
  Every tool is a call of [the HTTP API](http.md) as that caller, with the same isolation, rights and quotas. Revoking a key ends its waiting calls within
  a second. \`wakeful mcp\` on a store acts as one tenant and owner, as every command does.
- **Results** have two texts: a description (times in their zone and from now, the rule, what follows, notes), then the JSON of the HTTP API, with payloads byte
  for byte. The structured content is the same JSON. Short schemas are listed here; that of an alarm is in [the HTTP API](http.md).
- **Errors** are results with \`isError\`: the stable code, what was wrong, and what to change; then the problem document as JSON.
- **No target**: an alarm without a target goes to the owner's default target, or to the inbox if there is none; the result says so. (The HTTP API rejects
  such an alarm, because a program may not read an inbox.)
`

interface Schema {
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
}

/** The page, from the tools. */
export function mcpDoc(): string {
  const sentences = instructions('UTC')
    .split(/(?<=\.) (?=[A-Z])/)
    .map((sentence) => `> ${sentence}`)
  return `${HEAD}
## Instructions to clients

${sentences.join('\n')}

${listedTools().map(section).join('\n')}`
}

function section({
  name,
  title,
  description,
  inputSchema,
  annotations,
}: ReturnType<typeof listedTools>[number]): string {
  const { readOnlyHint, destructiveHint, idempotentHint } = annotations ?? {}
  const hints = [
    readOnlyHint === true
      ? 'changes nothing'
      : destructiveHint === true
        ? 'takes something away'
        : 'adds or reports',
    ...(idempotentHint === true && readOnlyHint !== true ? ['may be repeated'] : []),
  ]
  const { properties = {}, required = [] } = inputSchema as {
    properties?: Record<string, Schema>
    required?: string[]
  }
  const rows = Object.entries(properties).map(([field, schema]) => {
    const must = required.includes(field) ? ', required' : ''
    return `| \`${field}\` | ${typeOf(schema)}${must} | ${cell(schema.description ?? '')} |`
  })
  return `## \`${name}\`: ${title?.toLowerCase()}

${description}

Hints: ${hints.join(', ')}.

| argument | | |
|---|---|---|
${rows.join('\n')}
`
}

function typeOf({ type, enum: values, const: value, anyOf, items }: Schema): string {
  if (values !== undefined) return values.map((each) => `\`${String(each)}\``).join(', ')
  if (value !== undefined) return `\`${String(value)}\``
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(' or ')
  if (type === 'array') return `list of ${typeOf(items ?? {})}`
  return type ?? 'any JSON'
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}

if (import.meta.main) process.stdout.write(mcpDoc())
