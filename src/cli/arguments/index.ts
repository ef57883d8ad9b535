export * from './command.ts'
export * from './globals.ts'
export * from './set-arguments.ts'
export * from './when-arguments.ts'
