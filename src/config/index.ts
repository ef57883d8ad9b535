/** The configuration of `wakeful serve`: one definition per setting, read from flags, environment and a file. */
export { addConfigFlags, openSettings } from './flags.ts'
export type { DefaultQuotas, Quota } from './kinds.ts'
export { type PrintedSetting, printed, printedLines } from './printed.ts'
export { type ConfigInput, type Configured, readConfig, type Source } from './read.ts'
export {
  type Config,
  flagOf,
  nameOf,
  SETTING_LIST,
  type Setting,
  type SettingKey,
  variableOf,
} from './settings.ts'
