export * from './days-off.ts'
export * from './exclusion.ts'
export * from './holiday-calendar.ts'
