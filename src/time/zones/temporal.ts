/**
 * Temporal: the runtime's own, or the polyfill where there is none (Node 24).
 * The polyfill is loaded only where it is missed, so that nobody else pays for it.
 */
export const temporal: typeof Temporal =
  (globalThis as { Temporal?: typeof Temporal }).Temporal ??
  ((await import('temporal-polyfill')).Temporal as unknown as typeof Temporal)
