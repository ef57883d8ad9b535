/** Prints docs/reference/errors.md from the catalogue of reasons: `node tools/errors-doc.ts > docs/reference/errors.md`. */
import { ERROR_CODES, type ErrorCode, REASONS, type ReasonId, reasonOf, render } from '../src/errors/index.ts'
import { STATUS_OF } from '../src/server/http/index.ts'
import { sampleError } from './sample-error.ts'

const MEANINGS: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'The request is malformed, or an option has a wrong value.',
  invalid_time: 'A time, a duration or a phrase cannot be read.',
  invalid_rule: 'A recurring rule cannot be read, or never fires.',
  invalid_timezone: 'The time zone is unknown.',
  payload_too_large: 'The payload, or the body of the request, is too large.',
  unauthorized: 'The key is missing, unknown or expired.',
  forbidden: 'The key does not allow this.',
  not_found: 'There is no such alarm, key, tenant or call, or it belongs to another owner.',
  conflict: 'The alarm’s status does not allow this call, or the alarm changed since you read it.',
  already_ended: 'The alarm has ended.',
  cursor_expired: 'Events after the cursor are no longer kept.',
  quota_exceeded: 'A quota is used up.',
  rate_limited: 'Too many requests.',
  store_unavailable: 'The store does not answer. Try again.',
  schema_too_new: 'A newer version of Wakeful has changed the store.',
  internal: 'Internal error.',
}

/** The page, from the catalogue in src/errors/. */
export function errorsDoc(): string {
  const codes = ERROR_CODES.map((code) => `| \`${code}\` | ${STATUS_OF[code]} | ${MEANINGS[code]} |`)
  return `<!-- Written by tools/errors-doc.ts from src/errors/: change the catalogue, then run \`npm run docs\`. -->

# Errors

A rejected call throws a \`WakefulError\` with these properties:

| property | |
|---|---|
| \`code\` | one of the stable codes below. Programs should branch on it |
| \`reason\` | a stable id, listed below under its code. Branch on it if the code is not specific enough |
| \`params\` | the values in the message |
| \`field\` | the field that the error is about, as a path such as \`items[1].delay\` |
| \`errors\` | if there are several errors: each of them, with its own reason, parameters and field |
| \`message\` | the error in words. The wording may change in any version |

Over HTTP, the problem document contains the same data: \`code\`, \`reason\`, \`params\` and \`field\`, with field names in snake_case
(\`max_failures\`), and the message in \`detail\`. \`wakeful/client\` throws the \`WakefulError\` that the library would throw.

## Codes

| code | HTTP status | meaning |
|---|---|---|
${codes.join('\n')}

${ERROR_CODES.map(section).join('\n\n')}
`
}

function section(code: ErrorCode): string {
  const ids = (Object.keys(REASONS) as ReasonId[]).filter((id) => reasonOf(id)?.code === code).sort()
  return `## \`${code}\`\n\n| reason | message |\n|---|---|\n${ids.map(row).join('\n')}`
}

/** The message of a reason, with the names of its parameters in place of their values. */
function row(id: ReasonId): string {
  // Its message joins those of its errors, so a sample would show messages of other reasons.
  if (id === 'request.several_errors') return `| \`${id}\` | (several errors at once, see \`errors\`) |`
  const words = render(
    sampleError(id, (name) => `{${name}}`, '{field}'),
    'wire',
  )
  return `| \`${id}\` | ${words.replaceAll('|', '\\|').replaceAll('`{field}`: ', '')} |`
}

if (import.meta.main) process.stdout.write(errorsDoc())
