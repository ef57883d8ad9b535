export * from './connection.ts'
export { isBusy, isStoreError, storeFailure } from './errors.ts'
export { UserTransactions } from './user-transactions.ts'
export { WriteQueue } from './write-queue.ts'
