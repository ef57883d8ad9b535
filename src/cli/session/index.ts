export * from './secret.ts'
export * from './session.ts'
export * from './which-alarm.ts'
