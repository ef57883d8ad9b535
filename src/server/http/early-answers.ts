import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { PROBLEM_TYPE } from './problem.ts'

const BROKEN: Readonly<Record<string, readonly [number, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request was not sent in time'],
  HPE_HEADER_OVERFLOW: [431, 'the headers are too large'],
}

/** Answers bytes that are not HTTP, by Node's error. The answer repeats nothing of them. */
export function answerBroken(socket: Duplex, code: string | undefined): void {
  const [status, detail] = BROKEN[code ?? ''] ?? [400, 'this is not HTTP']
  answerSocket(socket, status, detail)
}

/** Answers where Node has no request to answer, and closes the connection. */
export function answerSocket(socket: Duplex, status: number, detail: string): void {
  socket.end(problemResponse(status, problemText(status, detail)))
}

/** A response as it is written to a socket: a problem document, after which the connection is closed. */
export function problemResponse(status: number, problem: string, headers: readonly string[] = []): string {
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(problem)}`,
    ...headers,
    'Connection: close',
    '',
    problem,
  ]
  return lines.join('\r\n')
}

/** The answer to a failed request: 400 if its target or its Host is invalid or missing, 500 for anything else. */
export function answerUnreadable(thrown: unknown): Response {
  const isInvalid = thrown instanceof Error && thrown.name === 'RequestError'
  const status = isInvalid ? 400 : 500
  const detail = isInvalid ? 'the target of the request or its Host is invalid' : 'internal error'
  return new Response(problemText(status, detail), {
    status,
    headers: { 'content-type': PROBLEM_TYPE, connection: 'close' },
  })
}

/** Answers before the caller is authenticated. */
export function answerEarly(outgoing: ServerResponse, status: number, detail: string): void {
  const body = problemText(status, detail)
  const headers = {
    'content-type': PROBLEM_TYPE,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }
  outgoing.writeHead(status, headers).end(body)
}

function problemText(status: number, detail: string): string {
  const code = status < 500 ? 'invalid_request' : 'internal'
  return JSON.stringify({
    type: `urn:wakeful:problem:${code}`,
    title: STATUS_CODES[status],
    status,
    code,
    detail,
  })
}
