export { Edits } from './edits.ts'
export { reviewSelected } from './reviews.ts'
export { isKeyed, Sets } from './sets.ts'
export { UserTransactions } from './user-transactions.ts'
