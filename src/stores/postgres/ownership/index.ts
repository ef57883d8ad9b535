export { Notifier } from './notifier.ts'
export { Ownership } from './ownership.ts'
