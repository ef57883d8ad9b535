import { CommanderError } from 'commander'
import { type ErrorCode, errorText, WakefulError } from '../error.ts'

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
export function badUsage(message: string): WakefulError {
  return new WakefulError('invalid_request', message)
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
export async function asWork<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    throw thrown instanceof WakefulError ? new FailedWork(thrown) : thrown
  }
}

/** What anything thrown means for the process. */
export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof CommanderError) {
    const message = thrown.message.replace(/^error: /, '').replace(/\n\s*\(Did you mean/, ' (Did you mean')
    return { code: 'invalid_request', message, exitCode: 2 }
  }
  if (thrown instanceof FailedWork) return { ...failureOf(thrown.cause), exitCode: 1 }
  if (thrown instanceof WakefulError) {
    return { code: thrown.code, message: thrown.message, exitCode: BAD_USAGE.has(thrown.code) ? 2 : 1 }
  }
  return { code: 'internal', message: fileTrouble(thrown) ?? errorText(thrown), exitCode: 1 }
}

/** The failure as it is written to stderr. */
export function failureText(failure: Failure, json: boolean): string {
  const { code, message } = failure
  return json ? JSON.stringify({ error: { code, message } }) : `error: ${message} (${code})`
}

/** Words for what the operating system says of files; its own begin with a code and end with a call. */
function fileTrouble(thrown: unknown): string | null {
  const { code, path } = (thrown ?? {}) as { code?: unknown; path?: unknown }
  if (typeof path !== 'string') return null
  if (code === 'ENOENT') return `there is no file ${path}`
  if (code === 'EACCES' || code === 'EPERM') return `no permission for ${path}`
  if (code === 'EISDIR') return `${path} is a directory`
  if (code === 'EEXIST') return `${path} exists already`
  return null
}
