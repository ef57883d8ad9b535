export { Growth } from './analyze-on-growth.ts'
export * from './database.ts'
export * from './errors.ts'
export * from './session.ts'
