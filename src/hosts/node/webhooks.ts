import { display, WakefulError } from '../../error.ts'
import { withDefaults } from '../../library/index.ts'
import type { Store } from '../../stores/index.ts'
import { type Transport, type WebhookSettings, WebhookTarget } from '../../targets/index.ts'
import { type Clock, parseDuration } from '../../time/index.ts'
import { Keyring } from './keyring.ts'
import type { OpenOptions } from './open.ts'
import { secretPath } from './store-url.ts'
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

type Circuit = NonNullable<WebhookOptions['circuit']>

const WEBHOOKS = { timeout: '30s', perEndpoint: 10, patience: '10m', circuit: {} as Circuit }
const CIRCUIT = { failures: 5, open: '10s', openMax: '1m' }

/** Checks the options of `open` for webhooks before anything is opened. */
export function webhookSettings(options: OpenOptions): WebhookSettings {
  const { secret, allowPrivateTargets, webhooks = {} } = options
  const all = withDefaults('webhooks', webhooks, WEBHOOKS)
  const circuit = withDefaults('webhooks.circuit', all.circuit, CIRCUIT)
  if (secret !== undefined && typeof secret !== 'string')
    throw new WakefulError('field.malformed', { expected: 'a string' }, { field: 'secret' })
  if (allowPrivateTargets !== undefined && typeof allowPrivateTargets !== 'boolean')
    throw new WakefulError('field.malformed', { expected: 'true or false' }, { field: 'allowPrivateTargets' })
  const openMs = positive('webhooks.circuit.open', circuit.open)
  return {
    timeoutMs: positive('webhooks.timeout', all.timeout),
    concurrency: wholeNumber('webhooks.perEndpoint', all.perEndpoint),
    patienceMs: parseDuration(all.patience),
    failuresMax: wholeNumber('webhooks.circuit.failures', circuit.failures),
    openMs,
    openMsMax: Math.max(openMs, positive('webhooks.circuit.openMax', circuit.openMax)),
    allowPrivate: allowPrivateTargets ?? process.env.WAKEFUL_ALLOW_PRIVATE_TARGETS === '1',
  }
}

/** What opening webhooks needs of the settings. */
interface Settings {
  readonly secret: string | undefined
  readonly webhooks: WebhookSettings
  readonly onError: (thrown: unknown) => void
  readonly clock: Clock | undefined
}

/**
 * Assembles the target of webhooks, its secrets, and how to close its connections. It creates no file and no connection
 * before the first webhook.
 */
export async function openWebhooks(url: string, store: Store, clock: Clock, settings: Settings) {
  const configured = settings.secret ?? process.env.WAKEFUL_SECRET
  const keyring = await Keyring.open({ configured, path: secretPath(url), store, onError: settings.onError })
  const secrets = new WebhookSecrets(keyring, store, clock)
  const transport = new NodeTransport({ allowPrivate: settings.webhooks.allowPrivate })
  const ports = {
    clock,
    transport: settings.clock?.hold === undefined ? transport : stoppingTime(transport, settings.clock),
    keys: secrets,
    sealer: keyring,
    canSign: () => keyring.isUsable,
  }
  return {
    target: new WebhookTarget(ports, settings.webhooks),
    secrets,
    checkSecret: () => keyring.check(),
    close: () => transport.close(),
  }
}

/** Stops virtual time during a request, because an attempt would time out before it was sent otherwise. */
function stoppingTime(transport: Transport, clock: Clock): Transport {
  return { send: (request) => clock.hold!(transport.send(request)) }
}

/** Checks an option that must be a whole number of at least 1. */
export function wholeNumber(name: string, value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 1) return value as number
  const params = { min: 1, max: null, value: display(value) }
  throw new WakefulError('field.not_whole_number', params, { field: name })
}

function positive(name: string, duration: string): number {
  const ms = parseDuration(duration)
  if (ms > 0) return ms
  throw new WakefulError('field.too_small', {}, { field: name })
}
