export * from './days-off.ts'
export * from './exclusion.ts'
export * from './exclusion-description.ts'
export * from './holiday-calendar.ts'
