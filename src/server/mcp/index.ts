/** Alarms as tools of agents: MCP over HTTP and stdio. */
export { mountMcp } from './http.ts'
export { localTools } from './local-tools.ts'
export { remoteTools } from './remote-tools.ts'
export { serveTools } from './serve-tools.ts'
export { instructions, listedTools } from './tool-box.ts'
