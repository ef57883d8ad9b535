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
  conflict: 'The alarm is not in a state for this, or it was edited meanwhile.',
  already_ended: 'The alarm has ended.',
  cursor_expired: 'Events after the cursor are no longer kept.',
  quota_exceeded: 'A quota is used up.',
  rate_limited: 'Too many requests.',
  store_unavailable: 'The store does not answer. Try again.',
  schema_too_new: 'A newer version of Wakeful has changed the store.',
  internal: 'An error of the server.',
}

/** The page, from the catalogue in src/errors/. */
export function errorsDoc(): string {
  const codes = ERROR_CODES.map((code) => `| \`${code}\` | ${STATUS_OF[code]} | ${MEANINGS[code]} |`)
  return `<!-- Written by tools/errors-doc.ts from src/errors/: change the catalogue, then run \`npm run docs\`. -->

# Errors

A refused call throws a \`WakefulError\`. It is data:

| property | |
|---|---|
| \`code\` | one of the stable codes below: decide by this |
| \`reason\` | why, as a stable id below it: decide by this where the code is too coarse |
| \`params\` | the values that the message names |
| \`field\` | the field it is about, as a path: \`items[1].delay\` |
| \`errors\` | several errors at once, each with its own reason, parameters and field |
| \`message\` | the same in words. Words may change in any version |

Over HTTP the same data stands in the problem document: \`code\`, \`reason\`, \`params\` and \`field\`, with the names that fields have
on the wire (\`max_failures\`), and \`detail\` has the words. \`wakeful/client\` throws the \`WakefulError\` that the library would throw.

## Codes

| code | HTTP status | means |
|---|---|---|
${codes.join('\n')}

${ERROR_CODES.map(section).join('\n\n')}
`
}

function section(code: ErrorCode): string {
  const ids = (Object.keys(REASONS) as ReasonId[]).filter((id) => reasonOf(id)?.code === code).sort()
  return `## \`${code}\`\n\n| reason | in words |\n|---|---|\n${ids.map(row).join('\n')}`
}

/** The words of a reason, with the names of its parameters in place of their values. */
function row(id: ReasonId): string {
  const words = render(
    sampleError(id, (name) => `{${name}}`, '{field}'),
    'wire',
  )
  return `| \`${id}\` | ${words.replaceAll('|', '\\|').replaceAll('`{field}`: ', '')} |`
}

if (import.meta.main) process.stdout.write(errorsDoc())
