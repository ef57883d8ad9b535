/** Alarms as tools of agents: MCP over HTTP and stdio. */
export { type McpParts, mountMcp } from './http.ts'
