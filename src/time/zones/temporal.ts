/**
 * Temporal: the runtime's own, or the polyfill if there is none (Node 24).
 * The polyfill is imported dynamically, so that other runtimes do not load it.
 */
export const temporal: typeof Temporal =
  (globalThis as { Temporal?: typeof Temporal }).Temporal ??
  ((await import('temporal-polyfill')).Temporal as unknown as typeof Temporal)
