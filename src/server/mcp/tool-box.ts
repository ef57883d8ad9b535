import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server'
import { parseExact } from '../../library/index.ts'
import { checked } from '../http/index.ts'
import { alarmTools } from './alarm-tools.ts'
import { isOurs, refusalResult } from './refusal.ts'
import type { Tool, ToolContext } from './tool.ts'
import { toolSchema } from './tool-schema.ts'
import { wakeTools } from './wake-tools.ts'

/** Every tool, those of the contract first. */
export const TOOLS: readonly Tool[] = [...alarmTools, ...wakeTools]

/** What is known of a call of a tool beside its arguments. */
export interface ToolCall {
  readonly signal: AbortSignal
  /** The W3C trace the call says it belongs to. */
  readonly traceparent?: string
}

/** The tools as a client sees and calls them. */
export interface ToolBox {
  list(): ListedTool[] | Promise<ListedTool[]>
  /** Null where there is no such tool. */
  call(name: string, args: unknown, given: ToolCall): Promise<CallToolResult | null>
}

const byName = new Map(TOOLS.map((tool) => [tool.name, tool]))
let listed: ListedTool[] | undefined

/** The tools as they are listed to those whose times are read in UTC where they name no zone. */
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

/** The same to those whose times are read in another zone. */
export function namingZone(tools: ListedTool[], zone: string): ListedTool[] {
  if (zone === 'UTC') return tools
  const text = JSON.stringify(tools)
    .replaceAll('UTC by default', `${zone} by default`)
    .replaceAll('is read in UTC', `is read in ${zone}`)
  return JSON.parse(text) as ListedTool[]
}

/** The tools, done by the calls of the API as one caller. */
export function toolBox(
  workFor: (given: ToolCall) => ToolContext,
  { zone, onError }: { readonly zone: string; readonly onError: (thrown: unknown) => void },
): ToolBox {
  return {
    list: () => namingZone(listedTools(), zone),
    call: async (name, args, given) => {
      const tool = byName.get(name)
      if (tool === undefined) return null
      try {
        return await done(tool, args, workFor(given))
      } catch (thrown) {
        if (isOurs(thrown)) onError(thrown)
        return refusalResult(thrown, 'callers', tool.advice)
      }
    },
  }
}

async function done(tool: Tool, args: unknown, work: ToolContext): Promise<CallToolResult> {
  const { json, text } = await tool.run(checked(tool.input, args) as Record<string, unknown>, work)
  return {
    // The JSON as text is the answer byte for byte; clients that parse the other lose digits beyond 2^53 (promise: verbatim).
    content: [
      { type: 'text', text },
      { type: 'text', text: json },
    ],
    structuredContent: parseExact(json) as Record<string, unknown>,
  }
}
