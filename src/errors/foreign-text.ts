/**
 * The one place that looks into the text of an error. These libraries throw errors without a code, so that their words are
 * all there is. Every other error is told apart by its code, and Wakeful's own by their reason.
 */

/** `pg` gives no code for a connection that it lost, closed or waited for too long. */
const PG_BROKEN =
  /^(?:Connection terminated|Client has encountered a connection error|Client was closed|timeout (?:expired|exceeded)|Query read timeout|Cannot use a pool after calling end)/i

/** Whether `pg` reports that the connection is gone. */
export function isPgConnectionText(text: string): boolean {
  return PG_BROKEN.test(text)
}

/** What `pg` refuses before a session begins, which has no code either. */
export function pgHandshakeProblem(text: string): 'password' | 'no_tls' | null {
  if (/^SASL: .*client password must/.test(text)) return 'password'
  return text.startsWith('The server does not support SSL') ? 'no_tls' : null
}

/** What `croner` finds wrong, without its own name and the NaN or Infinity it shows for what it cannot count with. */
export function cronerText(text: string): string {
  return text.replace(/^CronPattern: /, '').replace(/:? \(?(?:NaN|Infinity)\)?$/, '')
}

/** What `commander` finds wrong, without its prefix, on one line. */
export function commanderText(text: string): string {
  return text.replace(/^error: /, '').replace(/\n\s*\(Did you mean/, ' (Did you mean')
}

/** The issues that the MCP library writes as JSON into the message of its error; null where there are none. */
export function mcpIssues(text: string): { path: readonly (string | number)[]; message: string }[] | null {
  try {
    const issues: unknown = JSON.parse(text.slice(text.indexOf('[')))
    return Array.isArray(issues) ? issues : null
  } catch {
    return null
  }
}

/** A connection's error without a code: its text is shown only where it cannot hold an address. */
export function hasNoAddress(text: string): boolean {
  return /^[a-z ]+$/i.test(text)
}
