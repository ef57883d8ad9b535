/** Prints docs/reference/mcp.md from the tools themselves: `node tools/mcp-doc.ts > docs/reference/mcp.md`. */
import { instructions, listedTools } from '../src/server/mcp/index.ts'

const HEAD = `<!-- Written by tools/mcp-doc.ts from src/server/mcp: change that, then run \`npm run docs\`. -->

# Tools for agents (MCP)

The Model Context Protocol, over streamable HTTP at \`/mcp\` of [a server](http.md) and over stdio by [\`wakeful mcp\`](cli.md#mcp).
[Wake an agent](../guides/wake-an-agent.md) is the guide; this page is what a client is told.

- **Both generations** of the protocol are spoken: 2026-07-28, and those before it with \`initialize\`. Over HTTP every request stands for itself:
  there are no sessions and no streams, so any process behind a load balancer can answer.
- **Who calls** is said by the same key as in the HTTP API, \`Authorization: Bearer wk_…\`, with \`Wakeful-Owner\` and \`Wakeful-Tenant\` where the key
  leaves that open. Every tool is a call of [the HTTP API](http.md) made as that caller: what is not yours is not found, rights and quotas are the same. A key that is
  revoked ends what it waits for within a second. \`wakeful mcp\` on a store is one tenant and owner, as every command is.
- **Answers** have two texts: words (times in their zone and from now, the rule, what follows, notes), then the JSON of the HTTP API, with payloads byte
  for byte. The structured content is the same JSON; its schema is listed where it is short, and an alarm's is that of [the HTTP API](http.md).
- **Refusals** are answers with \`isError\`: the stable code, what was wrong, what to change; then the problem document as JSON.
- **No target**: an alarm that names none goes to the owner's default target; where there is none, to the inbox, and the answer says so. (The HTTP API refuses
  such an alarm: a program has no inbox by accident.)
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
  const told = instructions('UTC')
    .split(/(?<=\.) (?=[A-Z])/)
    .map((sentence) => `> ${sentence}`)
  return `${HEAD}
## What a client is told first

${told.join('\n')}

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
