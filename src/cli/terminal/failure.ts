import { CommanderError } from 'commander'
import { type ErrorCode, errorText, WakefulError } from '../../error.ts'
import { commanderText, render } from '../../errors/index.ts'
import { withoutPasswords } from '../../redaction/index.ts'
import { oneLine } from '../text/index.ts'

/** What the process says and answers when a command did not succeed. */
export interface Failure {
  readonly code: ErrorCode
  readonly message: string
  readonly exitCode: 1 | 2
}

/** Codes that say the arguments were wrong, rather than that the work failed. */
const BAD_USAGE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'invalid_request',
  'invalid_time',
  'invalid_rule',
  'invalid_timezone',
  'payload_too_large',
])

/** Bad usage of the command line itself: exit 2. */
export function badUsage(detail: string): WakefulError {
  return new WakefulError('usage', { detail })
}

/** There is no alarm by this id or key, or it is another tenant's or owner's. */
export function notFound(name: string): WakefulError {
  return new WakefulError('alarm.not_found', { name: oneLine(name) })
}

/** A refusal of what the arguments led to, such as the lines of a file: the work failed, the usage was right. */
class FailedWork extends Error {
  override readonly cause: WakefulError

  constructor(cause: WakefulError) {
    super(cause.message)
    this.cause = cause
  }
}

/** Does work whose refusals are not the arguments' fault: exit 1, whatever their code. */
export async function asWorkFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    throw thrown instanceof WakefulError ? new FailedWork(thrown) : thrown
  }
}

/** What anything thrown means for the process. */
export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof CommanderError) {
    return { code: 'invalid_request', message: commanderText(thrown.message), exitCode: 2 }
  }
  if (thrown instanceof FailedWork) return { ...failureOf(thrown.cause), exitCode: 1 }
  if (thrown instanceof WakefulError) {
    const message = render(thrown, 'cli')
    return { code: thrown.code, message, exitCode: BAD_USAGE.has(thrown.code) ? 2 : 1 }
  }
  return fileTrouble(thrown) ?? { code: 'internal', message: errorText(thrown), exitCode: 1 }
}

/** Does work with a file that was named as an argument: whatever is wrong with it is told of that name. */
export async function withFile<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    if (thrown instanceof Error && 'syscall' in thrown) throw Object.assign(thrown, { path: file })
    throw thrown
  }
}

/** The failure as it is written to stderr. */
export function failureText(failure: Failure, json: boolean): string {
  const { code } = failure
  // An address may have been quoted from the arguments.
  const message = withoutPasswords(failure.message)
  return json ? JSON.stringify({ error: { code, message } }) : `error: ${message} (${code})`
}

/** Words for what the operating system says of files; its own begin with a code and end with a call. */
function fileTrouble(thrown: unknown): Failure | null {
  const { code, path } = (thrown ?? {}) as { code?: unknown; path?: unknown }
  if (code === 'ENOSPC') return { code: 'store_unavailable', message: 'the disk is full', exitCode: 1 }
  if (typeof path !== 'string') return null
  const words: Readonly<Record<string, string>> = {
    ENOENT: `there is no file ${path}`,
    ENOTDIR: `there is no file ${path}: what should be its folder is none`,
    EACCES: `no permission for ${path}`,
    EPERM: `no permission for ${path}`,
    EROFS: `${path} is on a disk that cannot be written`,
    EISDIR: `${path} is a directory`,
    EEXIST: `${path} exists already`,
  }
  const message = words[String(code)]
  if (message === undefined) return null
  return { code: code === 'ENOENT' ? 'not_found' : 'invalid_request', message, exitCode: 2 }
}
