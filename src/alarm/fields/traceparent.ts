import { display, WakefulError } from '../../error.ts'

const FORM = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** Whether it is a trace context of the W3C's version 00. */
export function isTraceparent(value: unknown): value is string {
  return typeof value === 'string' && FORM.test(value)
}

/** A trace context of the W3C's version 00, as it was given, or a refusal. */
export function traceparentOf(value: unknown): string {
  if (isTraceparent(value)) return value
  const expected =
    'a W3C trace context of version 00, such as 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  throw new WakefulError('field.invalid', { expected, value: display(value) }, { field: 'traceparent' })
}
