import type { Alarms, ParsedView } from '../../index.ts'
import type { Preview } from '../../time/index.ts'

type Differing = 'calendars' | 'preview' | 'parse'
type MaybeLater<T> = T | Promise<T>

/** Alarms in a store, or on a server: what both offer. */
export interface AnyAlarms extends Omit<Alarms, Differing> {
  preview(...args: Parameters<Alarms['preview']>): MaybeLater<Preview>
  parse(...args: Parameters<Alarms['parse']>): MaybeLater<ParsedView>
}
