export * from './session.ts'
export * from './which-alarm.ts'
