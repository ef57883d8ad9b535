/** Alarms as tools of agents: MCP over HTTP and stdio. */
export { mountMcp } from './http.ts'
export { remoteTools } from './remote-tools.ts'
export { serveTools } from './stdio.ts'
export { instructions, listedTools, localTools } from './tool-box.ts'
