export { Bells } from './notifier.ts'
export { Ownership } from './ownership.ts'
