import type { StdioParts } from './stdio.ts'

/** Serves the tools over stdio. The protocol's library is loaded by those who speak it: other commands start faster without. */
export async function serveTools(parts: StdioParts): Promise<void> {
  const { serveLines } = await import('./stdio.ts')
  await serveLines(parts)
}
