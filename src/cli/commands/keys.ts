import type { Command } from 'commander'
import type { Rights } from '../../contracts/index.ts'
import { display, WakefulError } from '../../error.ts'
import { wireText } from '../../library/index.ts'
import type { KeyRegistry, KeyView } from '../../server/index.ts'
import { parseDuration } from '../../time/index.ts'
import { addCommand, choice } from '../arguments/index.ts'
import { type StoreRequirement, type StoreSession, storeAction } from '../session/index.ts'
import type { CliContext } from '../terminal/index.ts'
import { type Column, localTime } from '../text/index.ts'

const RIGHTS: readonly string[] = ['read', 'write', 'admin'] satisfies Rights[]
const LISTED_MAX = 500

interface CreateFlags {
  readonly rights: Rights
  readonly label?: string
  readonly expiresIn?: number
}

/** `keys create|list|rotate|revoke`: API keys of servers on this store. */
export function addKeys(program: Command, cli: CliContext): void {
  const group = addCommand(program, 'keys', 'manage API keys', [
    "keys create --tenant '*' --rights admin --label operator",
    'keys create --tenant acme --owner ann',
  ])
  addCommand(group, 'create', 'create a key; it is shown only once', [
    "keys create --tenant '*' --rights admin --label operator",
    'keys create --tenant acme --rights write --expires-in 90d',
    'keys create --tenant acme --owner did:matrix:ann:f00',
  ])
    .addOption(choice('--rights <what>', 'what it may do; write by default', RIGHTS).default('write'))
    .option('--label <text>', 'a description')
    .option('--expires-in <duration>', 'when it expires (default: never)', (text) =>
      parseDuration(text, 'expiresIn'),
    )
    .action(
      keysAction(cli, 'any', async (keys, session, { rights, label = '', expiresIn }: CreateFlags) => {
        const { tenant = 'default', owner = null } = session.globals
        const expiresAt = expiresIn === undefined ? null : session.wakeful.operator.clock.now() + expiresIn
        const { key, view } = await keys.create({ tenant, owner, rights, label, createdBy: null, expiresAt })
        await audit(session, 'admin.key_created', view)
        session.out.print(wireText({ ...view, key }), () => [
          key,
          `  ${summary(view)}`,
          '  Keep it: only its hash is stored, so it cannot be printed again.',
        ])
      }),
    )
  addCommand(group, 'list', 'list the keys without their secret parts, oldest first', [
    'keys list',
    'keys list --tenant acme',
  ]).action(
    keysAction(cli, 'existing', async (keys, { out, zone, globals }) => {
      const found = await keys.list(globals.tenant ?? null, '', LISTED_MAX)
      const items = found.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
      if (!out.json && items.length === 0) return out.note('no keys: on this machine none is needed')
      out.print(wireText({ items }), () => out.rows([columns(zone)], items))
    }),
  )
  addCommand(group, 'rotate <id>', 'replace the secret part of a key', [
    'keys rotate 0f3f2a5b1c2d7e3a --grace 1h',
  ])
    .option('--grace <duration>', 'how long the old one stays valid (default: 0s)', (text) =>
      parseDuration(text, 'grace'),
    )
    .action(
      keysAction(cli, 'existing', async (keys, session, id: string, { grace = 0 }: { grace?: number }) => {
        const { key, view } = await keys.rotate(id, await tenantOf(keys, id), grace)
        await audit(session, 'admin.key_rotated', view)
        session.out.print(wireText({ ...view, key }), () => [key, `  ${summary(view)}`])
      }),
    )
  addCommand(group, 'revoke <id>', 'revoke a key; it stops working within a second', [
    'keys revoke 0f3f2a5b1c2d7e3a',
  ]).action(
    keysAction(cli, 'existing', async (keys, session, id: string) => {
      const view = await keys.revoke(id, await tenantOf(keys, id))
      await audit(session, 'admin.key_revoked', view)
      session.out.print(wireText(view), () => [`${id} revoked`])
    }),
  )
}

function keysAction<Args extends unknown[]>(
  cli: CliContext,
  need: StoreRequirement,
  work: (keys: KeyRegistry, session: StoreSession, ...args: Args) => Promise<void>,
) {
  return storeAction<Args>(cli, need, async (session, ...args) => {
    const { KeyRegistry } = await import('../../server/index.ts')
    const { documents, clock } = session.wakeful.operator
    await work(new KeyRegistry(documents, clock), session, ...args)
  })
}

function audit({ wakeful }: StoreSession, type: string, { id, tenant, owner, rights }: KeyView) {
  return wakeful.operator.audit(tenant, { type, data: { by: 'cli', key: id, tenant, owner, rights } })
}

async function tenantOf(keys: KeyRegistry, id: string): Promise<string> {
  const key = await keys.get(id)
  if (key === null) throw new WakefulError('cli.unknown_key', { name: display(id) })
  return key.tenant
}

function summary({ tenant, owner, rights, expiresAt }: KeyView): string {
  const scope = tenant === '*' ? 'every tenant' : `tenant ${tenant}`
  const until = expiresAt === null ? '' : `, until ${expiresAt.toISOString()}`
  return `${scope}, ${owner === null ? 'any owner' : `owner ${owner}`}, may ${rights}${until}`
}

function columns(zone: string): Column<KeyView>[] {
  return [
    { title: 'id', value: ({ id }) => id },
    { title: 'tenant', value: ({ tenant }) => tenant, cutTo: 10 },
    { title: 'owner', value: ({ owner }) => owner ?? '(any)', cutTo: 10 },
    { title: 'rights', value: ({ rights }) => rights },
    { title: 'label', value: ({ label }) => label, cutTo: 10, below: true },
    { title: 'created', value: ({ createdAt }) => localTime(createdAt, zone), below: true },
    { title: 'state', value: (key) => stateOf(key, zone), below: true },
  ]
}

function stateOf({ revokedAt, expiresAt }: KeyView, zone: string): string {
  if (revokedAt !== null) return 'revoked'
  return expiresAt === null ? 'valid' : `valid until ${localTime(expiresAt, zone)}`
}
