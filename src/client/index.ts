/** The library's interface over the network, for Node and browsers. It needs only `fetch`. */

import '../errors/node-version.ts'

export type { AlarmView, SetOptions, Status, Story, TargetSpec } from '../alarm/index.ts'
export { type ErrorCode, WakefulError } from '../errors/core.ts'
export { RawJson, rawJson } from '../json/index.ts'
export type {
  AlarmRef,
  BulkFilter,
  BulkOptions,
  BulkResult,
  Calendars,
  CalendarView,
  DefaultTarget,
  EditFields,
  EventsOptions,
  EventView,
  FailedPageOptions,
  HistoryOptions,
  HistoryPageOptions,
  Inbox,
  ListOptions,
  ListPage,
  OwnEventInput,
  ParsedView,
  PutCalendar,
  SetManyItem,
  SetView,
  StatsView,
  TakeOptions,
  TenantSecret,
  WakeReport,
  WakeView,
  Webhooks,
} from '../library/index.ts'
export type { Preview, When } from '../time/index.ts'
export type { ConnectOptions, RemoteAlarms } from './api.ts'
export { connect } from './connect.ts'
