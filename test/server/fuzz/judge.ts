import type { IncomingHttpHeaders } from 'node:http'
import { deviations } from './conforms.ts'
import type { Endpoint } from './document.ts'

/** The answer to a request. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

const STACK = /\n\s+at |node_modules|\.ts:\d+|node:internal|SQLITE_|syntax error at/

/** How an answer differs from what the document declares; empty if it conforms. */
export function violations(endpoint: Endpoint, answer: Answer): string[] {
  const { status, headers, text } = answer
  const summary = `${status} ${text.slice(0, 500)}`
  if (status >= 500) return [`answered ${summary}`]
  const wrong: string[] = []
  const declared = endpoint.responses[status]
  if (declared === undefined) wrong.push(`the status is not declared: ${summary}`)
  const problem = status >= 400
  if (problem && STACK.test(text)) wrong.push(`reveals internals: ${summary}`)
  if (headers['x-request-id'] === undefined) wrong.push('has no x-request-id')
  const [type] = (headers['content-type'] ?? '').split(';')
  const content = declared?.content?.[type!]
  if (declared?.content !== undefined && content === undefined) wrong.push(`has the type ${type}: ${summary}`)
  if (content === undefined) return wrong
  if (!type!.endsWith('json')) return wrong
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return [...wrong, `is no JSON: ${summary}`]
  }
  wrong.push(...deviations(content.schema, json).map((each) => `${each} in ${summary}`))
  if (!problem) return wrong
  const { code, status: own } = json as { code: string; status: number }
  if (own !== status) wrong.push(`has another status in its body: ${summary}`)
  if (!declared!.description.includes(`\`${code}\``)) wrong.push(`the code is not declared: ${summary}`)
  return wrong
}
