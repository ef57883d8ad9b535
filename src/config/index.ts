/** The configuration of `wakeful serve`: one definition per setting, read from flags, environment and a file. */
export type { DefaultQuotas, Quota } from './kinds.ts'
export * from './read.ts'
export * from './settings.ts'
