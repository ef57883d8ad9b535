import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterwards } from '../../afterwards.ts'

/** The result of a tool. */
export interface Answered {
  readonly isError: boolean
  /** The description. */
  readonly text: string
  /** The JSON as text, byte for byte. */
  readonly json: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer.
  readonly structured: any
}

/** An agent: a real client of the protocol that calls tools. */
export interface Agent {
  readonly client: Client
  tool(name: string, args?: Record<string, unknown>): Promise<Answered>
}

/** The two protocol versions: before and since 2026-07-28. */
export const ERAS = ['legacy', 'auto'] as const

/** An agent of a connected client; it is closed after the test or the file that asks for it. */
export function agentOf(client: Client): Agent {
  afterwards(() => client.close())
  return {
    client,
    tool: async (name, args = {}) =>
      answered((await client.callTool({ name, arguments: args })) as CallToolResult),
  }
}

/** A new client of the given protocol version. */
export function newClient(era: (typeof ERAS)[number] = 'auto'): Client {
  return new Client({ name: 'test-agent', version: '1.0.0' }, { versionNegotiation: { mode: era } })
}

/** An agent over HTTP, with a key or with other headers. */
export async function httpAgent(
  url: string,
  headers: Record<string, string> = {},
  era: (typeof ERAS)[number] = 'auto',
): Promise<Agent> {
  const client = newClient(era)
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }))
  return agentOf(client)
}

function answered({ content, isError, structuredContent }: CallToolResult): Answered {
  const texts = content.map((block) => (block.type === 'text' ? block.text : ''))
  return {
    isError: isError === true,
    text: texts[0] ?? '',
    json: texts[1] ?? '',
    structured: structuredContent,
  }
}
