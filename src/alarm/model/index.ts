/** An alarm, its timers, its events and its lifecycle, as data. */

export * from './alarm.ts'
export * from './change.ts'
export * from './lifecycle.ts'
export * from './target.ts'
export * from './timer.ts'
