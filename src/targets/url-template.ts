import { display, WakefulError } from '../error.ts'
import { DeliveryFailure } from './targets.ts'
import { WAKE_FIELDS, type Wake, type WakeField, wakeFieldJson } from './wake-body.ts'

/** What users write freely is no part of a URL, which may be logged on its way. */
const NOT_IN_URLS: readonly WakeField[] = ['payload', 'wake_message']
const IN_URLS = WAKE_FIELDS.filter((name) => !NOT_IN_URLS.includes(name))

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g
/** A percent sign that would be decoded together with the first letters of a value. */
const OPEN_PERCENT = /%[0-9a-f]?\{\{/i
/** The part of a URL that says which host is called. */
const AUTHORITY = /^https?:[/\\]*[^/\\?#]*/i
/** A segment that URLs drop, together with the one before it if it is two dots. */
const DOTS = /^(?:\.|%2e){1,2}$/i
/** More than most servers accept. */
const FILLED_BYTES_MAX = 8_192

/** Validates the placeholders of a webhook's URL, such as `https://app.example.com/wake/{{user_id}}`. */
export function assertUrlTemplate(url: string): void {
  if (AUTHORITY.exec(url)?.[0].includes('{{') === true)
    throw new WakefulError('webhook.placeholder_in_host', {}, { field: 'webhook' })
  if (OPEN_PERCENT.test(url))
    throw new WakefulError('webhook.placeholder_after_percent', {}, { field: 'webhook' })
  for (const [placeholder, name] of url.matchAll(PLACEHOLDER))
    if (!IN_URLS.includes(name!.trim() as WakeField)) {
      const params = { name: display(placeholder), known: IN_URLS }
      throw new WakefulError('webhook.url_placeholder', params, { field: 'webhook' })
    }
}

/**
 * The URL for one wake. Values are percent-encoded, and refused where the result would have another path than the
 * template: a user id such as `..` would lead to the path above, and an empty one to the path of all users.
 */
export function fillUrl(template: string, wake: Wake): URL {
  if (!template.includes('{{')) return new URL(template)
  const filled = template.replace(PLACEHOLDER, (_, written: string) => {
    const name = written.trim() as WakeField
    const value: unknown = JSON.parse(wakeFieldJson(wake, name))
    if (value === null || value === '') throw cannotFill(`{{${name}}} is empty`)
    return encodeURIComponent(String(value))
  })
  if (filled.length > FILLED_BYTES_MAX) throw cannotFill(`it has more than ${FILLED_BYTES_MAX} characters`)
  const [path] = filled.replace(AUTHORITY, '').split('?', 1)
  if (path!.split('/').some((segment) => DOTS.test(segment)))
    throw cannotFill('a value would change its path')
  const url = new URL(filled)
  const hosts = [url, new URL(template.replace(PLACEHOLDER, 'x'))].map(
    ({ href }) => AUTHORITY.exec(href)?.[0],
  )
  if (hosts[0] !== hosts[1]) throw cannotFill('a value would change its host')
  return url
}

function cannotFill(reason: string): DeliveryFailure {
  return new DeliveryFailure(`not sent: its URL cannot be filled in, because ${reason}`, { final: true })
}
