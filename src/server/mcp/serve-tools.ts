import type { StdioParts } from './stdio.ts'

/** Serves the tools over stdio. The protocol's library is loaded here, so that other commands start faster. */
export async function serveTools(parts: StdioParts): Promise<void> {
  const { serveLines } = await import('./stdio.ts')
  await serveLines(parts)
}
