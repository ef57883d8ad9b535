import { CommanderError } from 'commander'
import { type ErrorCode, errorText, WakefulError } from '../../error.ts'
import { commanderText, type ErrorData, render } from '../../errors/index.ts'
import { withoutPasswords } from '../../redaction/index.ts'
import { formatDuration } from '../../time/index.ts'
import { oneLine } from '../text/index.ts'

/** The message and exit code of a failed command. */
export interface Failure {
  readonly code: ErrorCode
  readonly message: string
  readonly exitCode: 1 | 2
}

/** Codes that mean wrong arguments, not failed work. */
const BAD_USAGE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'invalid_request',
  'invalid_time',
  'invalid_rule',
  'invalid_timezone',
  'payload_too_large',
])

/** No such alarm, or it belongs to another tenant or owner. */
export function notFound(name: string): WakefulError {
  return new WakefulError('alarm.not_found', { name: oneLine(name) })
}

/** An error in what the arguments refer to, such as the lines of a file. The arguments themselves were right. */
class FailedWork extends Error {}

/** The result of work whose errors are not wrong usage: exit 1, whatever their code. */
export function asWorkFailure<T>(work: Promise<T>): Promise<T> {
  return work.catch((thrown: unknown) => {
    throw thrown instanceof WakefulError ? new FailedWork(thrown.message, { cause: thrown }) : thrown
  })
}

/** The failure of anything thrown. */
export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof CommanderError) {
    return { code: 'invalid_request', message: commanderText(thrown.message), exitCode: 2 }
  }
  if (thrown instanceof FailedWork) return { ...failureOf(thrown.cause), exitCode: 1 }
  if (thrown instanceof WakefulError) {
    const message = render(inDurations(thrown), 'cli')
    return { code: thrown.code, message, exitCode: BAD_USAGE.has(thrown.code) ? 2 : 1 }
  }
  return fileFailure(thrown) ?? { code: 'internal', message: errorText(thrown), exitCode: 1 }
}

/** The error in the units of the command line: what other interfaces take in milliseconds is a duration here. */
function inDurations({ reason, params, message, field, errors }: ErrorData): ErrorData {
  const rest = { message, field, errors: errors?.map(inDurations) }
  const [min, max, value] = [params.min, params.max, params.value].map(Number) as [number, number, number]
  const isInMs = reason === 'field.not_whole_number' && field?.endsWith('Ms') === true
  if (!isInMs || !Number.isInteger(value)) return { reason, params, ...rest }
  const expected = `a duration from ${formatDuration(min)} to ${formatDuration(max)}`
  return { reason: 'field.invalid', params: { expected, value: formatDuration(value) }, ...rest }
}

/** Does work with a file that is an argument. Errors of the file system name it as the argument does. */
export async function withFile<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    if (thrown instanceof Error && 'syscall' in thrown) throw Object.assign(thrown, { path: file })
    throw thrown
  }
}

/** The failure as text for stderr. */
export function failureText(failure: Failure, json: boolean): string {
  const { code } = failure
  // The message may quote a URL of the arguments.
  const message = withoutPasswords(failure.message)
  return json ? JSON.stringify({ error: { code, message } }) : `error: ${message} (${code})`
}

/** The failure of a file system error, whose own message is a code and a system call. */
function fileFailure(thrown: unknown): Failure | null {
  const { code, path } = (thrown ?? {}) as { code?: unknown; path?: unknown }
  if (code === 'ENOSPC') return { code: 'store_unavailable', message: 'the disk is full', exitCode: 1 }
  if (typeof path !== 'string') return null
  const words: Readonly<Record<string, string>> = {
    ENOENT: `there is no file ${path}`,
    ENOTDIR: `there is no file ${path}: its folder is not a folder`,
    EACCES: `no permission for ${path}`,
    EPERM: `no permission for ${path}`,
    EROFS: `${path} is on a read-only disk`,
    EISDIR: `${path} is a directory`,
    EEXIST: `${path} exists already`,
  }
  const message = words[String(code)]
  if (message === undefined) return null
  return { code: code === 'ENOENT' ? 'not_found' : 'invalid_request', message, exitCode: 2 }
}
