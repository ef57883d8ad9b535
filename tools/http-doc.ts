/** Prints docs/reference/http.md from the OpenAPI document: `node tools/http-doc.ts > docs/reference/http.md`. */
import { openApi } from '../src/server/index.ts'

const HEAD = `<!-- Written by tools/http-doc.ts from src/contracts: change that, then run \`npm run docs\`. -->

# The HTTP API

\`wakeful serve\` listens on \`http://127.0.0.1:7420\`. \`/openapi.json\` describes the same API as OpenAPI 3.1, for programs.
[The client](client.md) calls it from TypeScript, in Node and in browsers. To begin, read [running the service](../guides/serve.md).

- **Authentication** is by key: \`Authorization: Bearer wk_…\`. A key belongs to one tenant and owner. With a key without an owner, each request names
  the owner (\`Wakeful-Owner\`); with a key of every tenant (\`*\`), also the tenant (\`Wakeful-Tenant\`). Percent-encode both beyond ASCII. Until the first key is
  created, callers on the same machine need none and act as the tenant \`default\`. A request with one of these headers twice is rejected.
- **Bodies** are JSON, sent as \`application/json\`, at most 1 MiB and not compressed (else 415). Unknown and repeated fields are rejected by name.
  \`payload\` and \`data\` are returned byte for byte.
- **Isolation**: what belongs to others returns the same 404 as what does not exist.
- **Idempotency**: \`POST /v1/alarms\` and \`PUT /v1/alarms/by-key/{key}\` accept the header \`Idempotency-Key\`, the same as \`idempotency_key\` in the body. If the
  key is known, nothing changes and the first alarm is returned. \`POST /v1/alarms/batch\` rejects the header, because each item has its own key. Other calls ignore it.
- **A response that was lost**: repeat the call. A set needs its idempotency key for that; a repeated edit, pause, resume or cancel changes nothing more. The \`outcome\` of a repeated cancel is \`ended\`, and the \`status\` of its alarm says whether it was cancelled or had fired.
  A repeated \`fire\`, \`skip\` or edit with a \`delay\` acts again. Send the \`If-Match\` of the alarm you read: 409 \`conflict\` then means that the first call took effect, or somebody else's.
- **Versions**: an alarm has an \`ETag\`, which changes whenever its JSON does, also when it fires or fails. An edit that sends it (or the \`updated_at\`) in \`If-Match\` is rejected (409 \`conflict\`) if the alarm was edited since. A fire in between is no conflict.
- **Request ids**: every response has an \`x-request-id\`: yours, or a new one. A W3C \`traceparent\` is passed on from the set to the wake.
- **Errors** are problem documents (RFC 9457), \`application/problem+json\`, with a stable \`code\`, \`reason\` and \`params\` ([errors](errors.md)). A 429 has \`Retry-After\`.
  [What each means](../troubleshooting.md#over-http).

Besides the calls below there are:

| | |
|---|---|
| \`/v1/ws\` | [calls and live events](websocket.md) over one connection |
| \`/mcp\` | [tools for agents](mcp.md) |
| \`/healthz\`, \`/readyz\`, \`/metrics\` | for [operators](../guides/operations.md#health) |
| \`/openapi.json\`, \`/llms.txt\`, \`/docs/….md\` | this API, and these pages |
`

type Json = Record<string, unknown>

interface Schema extends Json {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly items?: Schema
  readonly examples?: readonly unknown[]
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly description?: string
  readonly schema: Schema
}

/** The chapter of the calls that name an alarm by its key. */
const BY_KEY = 'alarms by key'

interface Documented {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { required: boolean; content: Record<string, { schema: Schema }> }
  readonly responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>
}

/** The page, from the API's own description of itself. */
export function httpDoc(): string {
  const api = openApi('0.0.0') as {
    paths: Record<string, Record<string, Documented>>
    components: { schemas: Record<string, Schema> }
  }
  const { schemas } = api.components
  const all = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, documented]) => ({
      path,
      method: method.toUpperCase(),
      documented,
    })),
  )
  const chapters = Map.groupBy(all, ({ documented }) => documented.tags[0]!)
  const calls = [...chapters].map(
    ([title, members]) =>
      `## ${capital(title)}\n\n${title === BY_KEY ? byKeyText(members) : members.map(section).join('\n')}`,
  )
  return `${HEAD}
${calls.join('\n')}
## Codes

| status | codes |
|---|---|
${codeRows(all.map(({ documented }) => documented))}

405 is for a method that a path does not have; \`Allow\` names those it has.

## Shapes

${Object.entries(schemas)
  .map(([name, schema]) => shape(name, schema))
  .join('\n')}`
}

interface Member {
  readonly path: string
  readonly method: string
  readonly documented: Documented
}

/** The calls by key are those by id with another path, so a list of them is enough. */
function byKeyText(members: readonly Member[]): string {
  const calls = members.map(
    ({ path, method, documented: { operationId } }) => `| \`${method} ${path}\` | \`${operationId}\` |`,
  )
  return `Every call on one alarm also takes the alarm's key instead of its id, percent-encoded (\`a/b\` is \`a%2Fb\`). Parameters, bodies, answers and errors are
the same. The keys \`.\` and \`..\` cannot be part of a URL: use the id.

| call | name over WebSocket |
|---|---|
${calls.join('\n')}
`
}

function section({ path, method, documented }: Member): string {
  const { summary, description, parameters, requestBody, responses } = documented
  const body = requestBody?.content['application/json']?.schema
  const lines = [
    `### \`${method} ${path}\``,
    '',
    `${summary}. ${description}`,
    '',
    ...(parameters.length === 0
      ? []
      : ['| parameter | | |', '|---|---|---|', ...parameters.map(parameterRow), '']),
    ...(body === undefined ? [] : bodyLines(body, requestBody!.required)),
    ...Object.entries(responses)
      .filter(([status]) => Number(status) < 300)
      .map(([status, answer]) => `- **${status}** ${answer.description}${answerShape(answer)}`),
    ...refusals(responses),
    '',
  ]
  return lines.join('\n').replace(/\n{3,}/g, '\n\n')
}

function parameterRow({ name, in: place, required, description = '', schema }: Parameter): string {
  const where =
    place === 'path' ? 'in the path' : place === 'header' ? 'header' : required ? 'required' : 'optional'
  return `| \`${name}\` | ${typeWords(schema)}, ${where} | ${cell(description)} |`
}

function bodyLines(schema: Schema, isRequired: boolean): string[] {
  const may = isRequired ? '' : ' (may be left out)'
  if (schema.$ref !== undefined)
    return [`Body${may}: [${refName(schema)}](#${refName(schema).toLowerCase()}).`, '']
  const fields = Object.entries(schema.properties ?? {})
  if (fields.length === 0) return []
  return [
    `Body${may}:`,
    '',
    '| field | | |',
    '|---|---|---|',
    ...fields.map(([name, field]) => fieldRow(name, field, schema)),
    '',
  ]
}

function shape(name: string, schema: Schema): string {
  if (schema.properties === undefined) return `### ${name}\n\n${choices(schema)}\n`
  const rows = Object.entries(schema.properties ?? {}).map(([field, inner]) => fieldRow(field, inner, schema))
  const text = schema.description === undefined ? '' : `${schema.description}\n\n`
  return `### ${name}\n\n${text}| field | | |\n|---|---|---|\n${rows.join('\n')}\n`
}

/** A shape that is no object: what it may be, each with what is text of it, and examples. */
function choices(schema: Schema): string {
  const { anyOf = [], examples = [] } = schema
  if (anyOf.every(({ description }) => description === undefined)) return `${capital(typeWords(schema))}.`
  const lines = anyOf.map((choice) => `- ${typeWords(choice)}: ${choice.description ?? ''}`)
  const rendered = examples.map((example) => `\`${JSON.stringify(example)}\``).join(', ')
  return [...lines, ...(rendered === '' ? [] : ['', `Such as ${rendered}.`])].join('\n')
}

/** What a list in an answer is of, where that has a name. */
function listWords({ items }: Schema): string {
  return items?.$ref === undefined ? '' : ` (${typeWords(items)})`
}

function fieldRow(name: string, field: Schema, of: Schema): string {
  const isRequired = of.required?.includes(name) === true
  return `| \`${name}\` | ${typeWords(field)}${isRequired ? '' : ', optional'} | ${cell(field.description ?? '')} |`
}

function typeWords(schema: Schema): string {
  if (schema.$ref !== undefined) return `[${refName(schema)}](#${refName(schema).toLowerCase()})`
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(', ')
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeWords).join(' or ')
  if (schema.type === 'array') return `list of ${typeWords(schema.items ?? {})}`
  if (Array.isArray(schema.type)) return schema.type.join(' or ')
  if (schema.type === 'object' && schema.properties !== undefined)
    return `\`{ ${Object.keys(schema.properties).join(', ')} }\``
  return (schema.type as string | undefined) ?? 'any JSON'
}

function answerShape({ content = {} }: Documented['responses'][string]): string {
  const [type, body] = Object.entries(content)[0] ?? []
  if (body === undefined) return ''
  if (body.schema?.$ref !== undefined)
    return ` [${refName(body.schema)}](#${refName(body.schema).toLowerCase()}).`
  const { properties = {} } = body.schema
  const fields = Object.entries(properties).map(([name, field]) => `\`${name}\`${listWords(field)}`)
  return fields.length === 0 ? ` (\`${type}\`)` : ` With ${fields.join(', ')}.`
}

function refusals(responses: Documented['responses']): string[] {
  const always = new Set([
    'invalid_request',
    'unauthorized',
    'forbidden',
    'rate_limited',
    'store_unavailable',
    'internal',
  ])
  const codes = Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, { description }]) => codesIn(description).map((code) => ({ status, code })))
    .filter(({ code }) => !always.has(code))
  const text = codes.map(({ status, code }) => `${status} \`${code}\``).join(', ')
  return text === '' ? [] : [`- Errors: ${text}.`]
}

function codeRows(documented: readonly Documented[]): string {
  // Of paths, not of calls: one that has no such method.
  const codes = new Map([['405', new Set(['not_found'])]])
  for (const { responses } of documented)
    for (const [status, { description }] of Object.entries(responses))
      if (Number(status) >= 400)
        codes.set(status, (codes.get(status) ?? new Set()).union(new Set(codesIn(description))))
  return [...codes]
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([status, of]) => `| ${status} | ${[...of].map((code) => `\`${code}\``).join(', ')} |`)
    .join('\n')
}

function codesIn(text: string): string[] {
  return [...text.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code!)
}

function refName({ $ref }: Schema): string {
  return $ref!.split('/').at(-1)!
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}

function capital(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1)
}

if (import.meta.main) process.stdout.write(httpDoc())
