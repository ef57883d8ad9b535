import { registerHooks } from 'node:module'
import { PLANTED, type Planted } from './planted.ts'

const MARK = '?planted='

/** The URL suffix of a variant's modules. */
export function variantOf(planted: Planted): string {
  return `${MARK}${PLANTED.indexOf(planted)}`
}

/**
 * Loads modules with a planted bug beside the original ones. Whatever a variant imports from the sources belongs to the
 * same variant. No file is written.
 */
export function loadVariants(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context)
      const mark = markOf(context.parentURL ?? '')
      const isSource = /\/src\/[^?]+\.ts$/.test(resolved.url)
      return mark === null || !isSource ? resolved : { ...resolved, url: `${resolved.url}${mark}` }
    },
    load(url, context, next) {
      const loaded = next(url, context)
      const mark = markOf(url)
      if (mark === null) return loaded
      const planted = PLANTED[Number(mark.slice(MARK.length))]!
      const path = url.slice(url.lastIndexOf('/src/') + '/src/'.length, url.indexOf(MARK))
      return { ...loaded, source: withBug(planted, path, String(loaded.source)) }
    },
  })
}

function markOf(url: string): string | null {
  const at = url.indexOf(MARK)
  return at < 0 ? null : url.slice(at)
}

function withBug({ bug, edits }: Planted, path: string, source: string): string {
  let text = source
  for (const { file, from, to } of edits) {
    if (file !== path) continue
    if (!text.includes(from)) throw new Error(`cannot plant "${bug}": ${file} no longer contains ${from}`)
    text = text.replace(from, () => to)
  }
  return text
}
