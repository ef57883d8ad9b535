import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { WakefulError } from '../../error.ts'
import { backup, doctor, migrateStore, migrationText } from '../../hosts/node/index.ts'
import { addCommand } from '../arguments/index.ts'
import { secretInEnvironment, storeUrlAndOutput } from '../session/index.ts'
import { type CliContext, paint, withProgress } from '../terminal/index.ts'
import { oneLine, wrap } from '../text/index.ts'

/** `backup FILE`: copies the store while it is in use. */
export function addBackup(program: Command, cli: CliContext): void {
  addCommand(program, 'backup <file>', 'copy the store to a file while it is in use', [
    'backup wakeful-backup.db',
  ])
    .option('--force', 'replace the file if it exists, but never the store itself')
    .action(async (file: string, flags: { force?: boolean }, self: Command) => {
      const { url, out } = storeUrlAndOutput(cli, self, 'existing')
      const replace = flags.force === true
      if (!replace && existsSync(file)) throw new WakefulError('file.exists', { file })
      await withProgress(cli.terminal, 'backup', (onProgress) => backup(url, file, { replace, onProgress }))
      out.print(JSON.stringify({ file }), () => [`backed up to ${file}`])
    })
}

/** `migrate`: updates the schema of the store, or prints the SQL. */
export function addMigrate(program: Command, cli: CliContext): void {
  addCommand(program, 'migrate', 'update the schema of the store', ['migrate', 'migrate --sql'])
    .option('--sql', 'print the SQL instead of running it')
    .action(async (flags: { sql?: boolean }, self: Command) => {
      const { url, out } = storeUrlAndOutput(cli, self, 'any')
      if (flags.sql === true) {
        const sql = await migrationText(url)
        out.print(JSON.stringify({ sql }), () => [sql.trimEnd() || '-- the schema is up to date'])
        return
      }
      const { from, to } = await migrateStore(url)
      const done =
        from === to ? `the schema is up to date (version ${to})` : `migrated from version ${from} to ${to}`
      out.print(JSON.stringify({ from, to }), () => [done])
    })
}

/** `doctor`: checks for problems that could keep alarms from firing. */
export function addDoctor(program: Command, cli: CliContext): void {
  addCommand(program, 'doctor', 'check for problems that could keep alarms from firing', [
    'doctor',
    'doctor --json',
  ]).action(async (_flags: unknown, self: Command) => {
    const { url, out } = storeUrlAndOutput(cli, self, 'existing')
    const checks = await doctor(url, secretInEnvironment(cli.terminal))
    const ok = checks.every((check) => check.ok)
    if (!ok) cli.exitCode = 1
    out.print(JSON.stringify({ ok, checks }), () => checks.flatMap((check) => lines(check, out.width)))
  })

  function lines(check: Awaited<ReturnType<typeof doctor>>[number], width: number | null): string[] {
    const { ok, name, detail, advice = '' } = check
    const broken = (text: string) => wrap(`      ${text}`, width, '      ')
    const mark = ok ? paint(cli.terminal, 'green', 'ok  ') : paint(cli.terminal, 'red', 'FAIL')
    const first = mark + broken(`${name}: ${oneLine(detail)}`).slice('FAIL'.length)
    return advice === '' ? [first] : [first, broken(advice)]
  }
}
