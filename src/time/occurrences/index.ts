export * from './count-between.ts'
export * from './next-occurrence.ts'
export * from './notes.ts'
