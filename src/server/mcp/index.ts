/** Alarms as tools of agents: MCP over HTTP and stdio. */
export { mountMcp } from './http.ts'
export { localTools } from './local-tools.ts'
export { remoteTools } from './remote-tools.ts'
export { serveTools } from './stdio.ts'
export { instructions, listedTools } from './tool-box.ts'
