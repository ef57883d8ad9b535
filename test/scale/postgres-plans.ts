import { readFileSync } from 'node:fs'
import pg from 'pg'

/** What a run of a statement did, by the server's plan. */
interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly Node[]
}

/** One run of a statement. */
export interface Run {
  readonly text: string
  /** Rows read from tables, rows read and discarded, rows sorted, and rows written. */
  readonly read: number
  readonly vain: number
  readonly sorted: number
  readonly written: number
  /** Pages touched. */
  readonly pages: number
  /** Tables that were scanned completely. */
  readonly scanned: readonly string[]
}

/** Settings of a server that logs plans. */
export const PLAN_LOGGING = ['log_min_messages=log'] as const

/** Makes every new connection to the database log its plans. */
export async function logPlans(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const settings = {
    session_preload_libraries: "'auto_explain'",
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_buffers': 'on',
    'auto_explain.log_timing': 'off',
    'auto_explain.log_format': "'json'",
  }
  for (const [setting, value] of Object.entries(settings))
    await client.query(`ALTER DATABASE ${name} SET ${setting} = ${value}`)
  await client.end()
}

/** Every run in the log. */
export function runsIn(logPath: string): Run[] {
  const entries = readFileSync(logPath, 'utf8').split(/^(?=\d{4}-)/m)
  return entries.flatMap((entry) => {
    const [, json] = entry.split(/ plan:\n/)
    if (json === undefined) return []
    const { 'Query Text': text, Plan } = JSON.parse(json) as { 'Query Text': string; Plan: Node }
    return [runOf(text, Plan)]
  })
}

function runOf(text: string, top: Node): Run {
  const nodes = all(top)
  const scans = nodes.filter((node) => 'Relation Name' in node && node['Node Type'].endsWith('Scan'))
  const total = (of: readonly Node[], each: (node: Node) => number) =>
    Math.round(of.reduce((sum, node) => sum + each(node) * node['Actual Loops'], 0))
  const vainIn = (node: Node) =>
    (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  const writes = nodes.filter((node) => node['Node Type'] === 'ModifyTable')
  const rowsOf = (of: readonly Node[]) =>
    total(
      of.flatMap(({ Plans = [] }) => Plans),
      (node) => node['Actual Rows'],
    )
  const sorts = nodes.filter((node) => node['Node Type'].includes('Sort'))
  return {
    text,
    read: total(scans, (node) => node['Actual Rows'] + vainIn(node)),
    vain: total(nodes, vainIn),
    sorted: rowsOf(sorts),
    written: rowsOf(writes),
    pages: top['Shared Hit Blocks'] + top['Shared Read Blocks'],
    scanned: scans.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name']!),
  }
}

function all(node: Node): Node[] {
  return [node, ...(node.Plans ?? []).flatMap(all)]
}
