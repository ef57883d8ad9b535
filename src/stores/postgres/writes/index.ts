export { reviewSelected } from './reviews.ts'
export { isKeyed } from './sets.ts'
export { Guests } from './user-transactions.ts'
export { Writers } from './writers.ts'
