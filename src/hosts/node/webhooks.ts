import { display, WakefulError } from '../../error.ts'
import { checked } from '../../library/index.ts'
import type { Store } from '../../stores/index.ts'
import { type Transport, type WebhookSettings, WebhookTarget } from '../../targets/index.ts'
import { type Clock, parseDuration } from '../../time/index.ts'
import { Keyring } from './keyring.ts'
import { isPostgres, storePath } from './store-url.ts'
import { WebhookSecrets } from './webhook-secrets.ts'
import { NodeTransport } from './webhook-transport.ts'

/** The options of webhooks. All have defaults. */
export interface WebhookOptions {
  /** How long one attempt may take if the alarm does not set it ('30s'). */
  readonly timeout?: string
  /** Concurrent calls per endpoint (10). */
  readonly perEndpoint?: number
  /** How long an occurrence waits for an endpoint with an open circuit, without counting an attempt ('10m'). */
  readonly patience?: string
  /** The circuit of an endpoint opens after this many failures in a row (5), for `open` ('10s'), then longer, up to `openMax` ('1m'). */
  readonly circuit?: { readonly failures?: number; readonly open?: string; readonly openMax?: string }
}

/** The options of `open` for webhooks. */
export interface WebhookOpenOptions {
  readonly secret?: string
  readonly allowPrivateTargets?: boolean
  readonly webhooks?: WebhookOptions
}

const WEBHOOKS = { timeout: true, perEndpoint: true, patience: true, circuit: true } as const
const CIRCUIT = { failures: true, open: true, openMax: true } as const
/** The folder of the secret of a PostgreSQL store, which has no folder of its own. */
const POSTGRES_SECRET = './wakeful.secret'

/** Checks the options before anything is opened. */
export function webhookSettings(options: WebhookOpenOptions): WebhookSettings {
  const { timeout = '30s', perEndpoint = 10, patience = '10m', circuit = {} } = options.webhooks ?? {}
  checked<WebhookOptions>('webhooks', options.webhooks ?? {}, WEBHOOKS)
  checked<NonNullable<WebhookOptions['circuit']>>('webhooks.circuit', circuit, CIRCUIT)
  const { secret, allowPrivateTargets } = options
  if (secret !== undefined && typeof secret !== 'string')
    throw new WakefulError('field.malformed', { expected: 'a string' }, { field: 'secret' })
  if (allowPrivateTargets !== undefined && typeof allowPrivateTargets !== 'boolean')
    throw new WakefulError('field.malformed', { expected: 'true or false' }, { field: 'allowPrivateTargets' })
  const circuitOpenMs = positive('webhooks.circuit.open', circuit.open ?? '10s')
  return {
    timeoutMs: positive('webhooks.timeout', timeout),
    perEndpoint: count('webhooks.perEndpoint', perEndpoint),
    patienceMs: parseDuration(patience),
    circuitFailures: count('webhooks.circuit.failures', circuit.failures ?? 5),
    circuitOpenMs,
    circuitOpenMsMax: Math.max(circuitOpenMs, positive('webhooks.circuit.openMax', circuit.openMax ?? '1m')),
    allowPrivate: allowPrivateTargets ?? process.env.WAKEFUL_ALLOW_PRIVATE_TARGETS === '1',
  }
}

/** Webhooks on Node: the target, its secrets, and how to close its connections. */
export interface NodeWebhooks {
  readonly target: WebhookTarget
  readonly secrets: WebhookSecrets
  close(): void
}

/** Assembles the parts. It creates no file and no connection before the first webhook. */
export async function openWebhooks(
  url: string,
  store: Store,
  clock: Clock,
  settings: WebhookSettings,
  options: WebhookOpenOptions & { readonly onError: (thrown: unknown) => void; readonly clock?: Clock },
): Promise<NodeWebhooks> {
  const configured = options.secret ?? process.env.WAKEFUL_SECRET
  const keyring = await Keyring.open({ configured, path: secretPath(url) }, store, options.onError)
  const secrets = new WebhookSecrets(keyring, store, clock)
  const transport = new NodeTransport({ allowPrivate: settings.allowPrivate })
  const sending = options.clock?.hold === undefined ? transport : stoppingTime(transport, options.clock)
  const ports = {
    clock,
    transport: sending,
    keys: secrets,
    sealer: keyring,
    canSign: () => keyring.canSign(),
  }
  return { target: new WebhookTarget(ports, settings), secrets, close: () => transport.close() }
}

/** Stops virtual time during a request, because an attempt would time out before it was sent otherwise. */
function stoppingTime(transport: Transport, clock: Clock): Transport {
  return { send: (request) => clock.hold!(transport.send(request)) }
}

function secretPath(url: string): string | null {
  if (isPostgres(url)) return POSTGRES_SECRET
  const path = storePath(url)
  return path === ':memory:' ? null : `${path}.secret`
}

function count(name: string, value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 1) return value as number
  throw new WakefulError(
    'field.not_whole_number',
    { min: 1, max: null, value: display(value) },
    { field: name },
  )
}

function positive(name: string, duration: string): number {
  const ms = parseDuration(duration)
  if (ms > 0) return ms
  throw new WakefulError('field.too_small', { min: 0, inclusive: false }, { field: name })
}
