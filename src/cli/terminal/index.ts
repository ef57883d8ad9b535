export * from './failure.ts'
export * from './progress.ts'
export * from './stop.ts'
export * from './terminal.ts'
