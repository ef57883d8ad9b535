import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import type { Command } from 'commander'
import { backup, doctor, migrateStore, migrationText } from '../../hosts/node/index.ts'
import { addCommand } from '../command.ts'
import { badUsage } from '../failure.ts'
import { progress } from '../progress.ts'
import type { Shell } from '../shell.ts'
import { paint } from '../terminal.ts'
import { wholeStore } from '../whole-store.ts'

/** `backup FILE`: a consistent copy of the store while it is in use. */
export function addBackup(program: Command, shell: Shell): void {
  addCommand(program, 'backup <file>', 'copy the store to a file while it is in use', [
    'backup wakeful-backup.db',
  ])
    .option('--force', 'replace the file if it exists')
    .action(async (file: string, flags: { force?: boolean }, self: Command) => {
      const { url, out } = wholeStore(shell, self, 'existing')
      if (flags.force !== true && existsSync(file)) {
        throw badUsage(`${file} exists already: name another file, or add --force to replace it`)
      }
      const unfinished = `${file}.unfinished`
      const bar = progress(shell.terminal, 'backup')
      try {
        await rm(unfinished, { force: true })
        await backup(url, unfinished, (done, total) => bar.at(done, total))
        await rename(unfinished, file)
      } finally {
        bar.end()
        await rm(unfinished, { force: true })
      }
      out.answer({ json: () => JSON.stringify({ file }), human: () => [`backed up to ${file}`] })
    })
}

/** `migrate`: brings the store's schema up to date, or prints how. */
export function addMigrate(program: Command, shell: Shell): void {
  addCommand(program, 'migrate', 'bring the store’s schema up to date', ['migrate', 'migrate --sql'])
    .option('--sql', 'print the SQL instead of running it')
    .action(async (flags: { sql?: boolean }, self: Command) => {
      const { url, out } = wholeStore(shell, self, 'any')
      if (flags.sql === true) {
        const sql = migrationText(url)
        out.answer({
          json: () => JSON.stringify({ sql }),
          human: () => [sql.trimEnd() || '-- the schema is up to date'],
        })
        return
      }
      const { from, to } = await migrateStore(url)
      const done =
        from === to ? `the schema is up to date (version ${to})` : `migrated from version ${from} to ${to}`
      out.answer({ json: () => JSON.stringify({ from, to }), human: () => [done] })
    })
}

/** `doctor`: looks for what could keep alarms from firing. */
export function addDoctor(program: Command, shell: Shell): void {
  addCommand(program, 'doctor', 'look for what could keep alarms from firing', [
    'doctor',
    'doctor --json',
  ]).action(async (_flags: unknown, self: Command) => {
    const { url, out } = wholeStore(shell, self, 'existing')
    const checks = doctor(url)
    const ok = checks.every((check) => check.ok)
    if (!ok) shell.exitCode = 1
    out.answer({
      json: () => JSON.stringify({ ok, checks }),
      human: () => checks.flatMap((check) => lines(check)),
    })
  })

  function lines({ ok, name, detail, advice }: ReturnType<typeof doctor>[number]): string[] {
    const mark = ok ? paint(shell.terminal, 'green', 'ok  ') : paint(shell.terminal, 'red', 'FAIL')
    const first = `${mark}  ${name}: ${detail}`
    return advice === undefined || advice === '' ? [first] : [first, `      ${advice}`]
  }
}
