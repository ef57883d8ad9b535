import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { BYTES_MAX, DEFAULT_ZONE_TEXT } from '../../contracts/index.ts'
import { parseExact } from '../../json/index.ts'
import type { Wakeful } from '../../library/index.ts'
import { alarmCalls, inboxCalls, readCalls } from '../calls/index.ts'
import { checked, problemOf } from '../http/index.ts'
import { NO_QUOTAS, QuotaGuard, TenantRegistry } from '../limits/index.ts'
import { alarmTools, ZONE_TEXT } from './alarm-tools.ts'
import { refusalResult, type Tool, type ToolContext } from './tool.ts'
import { wakeTools } from './wake-tools.ts'

/** The reason in the data of a protocol error about a tool that does not exist. */
export const UNKNOWN_TOOL = 'tool.unknown'

/** Every tool; those of the contract come first. */
export const TOOLS: readonly Tool[] = [...alarmTools, ...wakeTools]

/** What is known of a tool call besides its arguments. */
export interface ToolCall {
  readonly signal: AbortSignal
  /** The W3C trace the call belongs to. */
  readonly traceparent?: string
}

/** The tools as a client sees and calls them. */
export interface ToolBox {
  list(): ListedTool[] | Promise<ListedTool[]>
  /** Null if there is no such tool. */
  call(name: string, args: unknown, call: ToolCall): Promise<CallToolResult | null>
}

const byName = new Map(TOOLS.map((tool) => [tool.name, tool]))
let listed: ListedTool[] | undefined

/** The tools as they are listed to clients whose times are read in UTC by default. */
export function listedTools(): ListedTool[] {
  listed ??= TOOLS.map(({ name, title, description, input, output, hints }) => ({
    name,
    title,
    description,
    inputSchema: toolSchema(input, 'input'),
    ...(output !== undefined && { outputSchema: toolSchema(output, 'output') }),
    annotations: { title, ...hints, openWorldHint: false },
  })) as ListedTool[]
  return listed
}

/** The same for clients with another default zone. */
export function namingZone(tools: ListedTool[], zone: string): ListedTool[] {
  if (zone === 'UTC') return tools
  const text = JSON.stringify(tools)
    .replaceAll(DEFAULT_ZONE_TEXT, DEFAULT_ZONE_TEXT.replace('UTC', zone))
    .replaceAll(ZONE_TEXT, ZONE_TEXT.replace('UTC', zone))
  return JSON.parse(text) as ListedTool[]
}

/** The tools of one caller, made of the calls of the API. */
export function toolBox(
  contextOf: (call: ToolCall) => ToolContext,
  { zone, onError }: { readonly zone: string; readonly onError: (thrown: unknown) => void },
): ToolBox {
  return {
    list: () => namingZone(listedTools(), zone),
    call: async (name, args, call) => {
      const tool = byName.get(name)
      if (tool === undefined) return null
      try {
        return await run(tool, args, contextOf(call))
      } catch (thrown) {
        // An error of the server itself: its operator should know of it.
        if (problemOf(thrown).status >= 500) onError(thrown)
        return refusalResult(thrown, 'callers', tool.advice)
      }
    },
  }
}

/** The tools of one tenant and owner, directly on a store, where there are no keys. `zone` is that of times that name none. */
export function localTools(
  wakeful: Wakeful,
  { tenant, owner, zone }: { readonly tenant: string; readonly owner: string; readonly zone: string },
  onError: (thrown: unknown) => void,
): ToolBox {
  const { clock, documents } = wakeful.operator
  const quotas = new QuotaGuard(new TenantRegistry(documents, clock, NO_QUOTAS), clock, wakeful.operator)
  const calls = { ...alarmCalls(quotas), ...readCalls, ...inboxCalls(null, null) }
  const caller = { tenant, owner, rights: 'write', via: 'mcp', alarms: wakeful, ...WITHOUT_KEY } as const
  return toolBox(
    ({ signal, traceparent }) => ({
      calls,
      context: { caller, signal, ...(traceparent !== undefined && { traceparent }) },
      now: () => clock.now(),
      zone,
    }),
    { zone, onError },
  )
}

const WITHOUT_KEY = { keyId: null, keyHash: null, key: null }

async function run(tool: Tool, args: unknown, work: ToolContext): Promise<CallToolResult> {
  const { json, text } = await tool.run(checked(tool.input, args) as Record<string, unknown>, work)
  return {
    // The JSON as text is exact; clients that parse the structured content lose digits beyond 2^53 (promise: verbatim).
    content: [
      { type: 'text', text },
      { type: 'text', text: json },
    ],
    structuredContent: parseExact(json) as Record<string, unknown>,
  }
}

/** The descriptions of schemas, without their names: a schema with a name is referred to, and many clients do not follow references. */
const DESCRIPTIONS = {
  get: (schema: z.core.$ZodType) => {
    const { id: _, ...described } = z.globalRegistry.get(schema) ?? {}
    return described
  },
} as typeof z.globalRegistry

function toolSchema(schema: z.ZodObject, io: 'input' | 'output') {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    metadata: DESCRIPTIONS,
  })
  const text = JSON.stringify({ ...json, type: 'object' })
  return JSON.parse(text, (name, value: unknown) => (isBound(name, value) ? undefined : value)) as unknown
}

/** Lengths, and bounds that every safe integer keeps. They are left out, because models read the whole list of tools and do not need them. */
function isBound(key: string, field: unknown): boolean {
  if (key === 'minLength' || key === BYTES_MAX) return typeof field === 'number'
  return (key === 'minimum' || key === 'maximum') && Math.abs(Number(field)) === Number.MAX_SAFE_INTEGER
}

/** What a client shows its model before the first call. */
export function instructions(zone: string): string {
  return [
    'Wakeful keeps alarms: call `set` with a time and a note to yourself, and you are woken with that note at that time, even if every process crashed in between.',
    `Times may be plain language ("tomorrow at 9am", "every weekday at 9:30"); name a timezone for local times, because ${zone} is used otherwise, and use \`preview\` to check what a time means.`,
    'Without a target a wake goes to your default target, or to your inbox if you have none: call `inbox` when you start, and whenever something should be due, to wait for it.',
    'A wake has the time it was due, the time it was delivered, and the reason if it is late: do what its message asks, then `ack` it, with `complete` or `fail` if it awaits a report; otherwise it is handed out again.',
    'Give an alarm a `key` to find, move (`set` again, `reschedule`) or `cancel` it later, and ask `why` when something did not happen.',
  ].join(' ')
}
