export { reviewSelected } from './reviews.ts'
export { isKeyed } from './sets.ts'
export { UserTransactions } from './user-transactions.ts'
export { Writers } from './writers.ts'
