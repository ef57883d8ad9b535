export * from './alarm-text.ts'
export * from './table.ts'
export * from './text-width.ts'
export * from './time-text.ts'
