/** Where alarms are kept: the port, and what any store must do to be one. */

export * from './portable.ts'
export * from './store.ts'
