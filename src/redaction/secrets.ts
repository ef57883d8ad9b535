import { withoutPasswords } from './passwords.ts'

/** What stands in place of a secret. */
const HIDDEN = '…'

/** What every secret that is known here stands beside: most texts have nothing of it, and are let through at once. */
const SUSPECT = /w[kft]_|whsec_|:\/\/|[?&]|bearer|basic|authorization|cookie|x-api-key/i

/**
 * A text as it may be logged: without API keys, webhook secrets, tickets, credentials of headers, and passwords of
 * addresses. A key keeps its public id, which says whose it was and opens nothing.
 */
export function withoutSecrets(text: string): string {
  if (!SUSPECT.test(text)) return text
  return withoutPasswords(
    text
      .replace(/\b(wk_[0-9a-f]{16})_[\w-]+/g, `$1_${HIDDEN}`)
      .replace(/\bwk_(?![0-9a-f]{16}_…)[\w-]{8,}/g, `wk_${HIDDEN}`)
      .replace(/\b(w[ft])_[\w-]{43}/g, `$1_${HIDDEN}`)
      .replace(/\bwhsec_[\w+/=-]+/g, `whsec_${HIDDEN}`)
      .replace(/\b(Bearer|Basic)(\s+)(?!wk_)[^\s"',;\\]+/gi, `$1$2${HIDDEN}`)
      .replace(
        /(["']?\b(?:authorization|proxy-authorization|cookie|set-cookie|x-api-key)\\?["']?\s*[:=]\s*\\?["']?)(?!(?:Bearer|Basic)\b)[^\s"',;\\]+/gi,
        `$1${HIDDEN}`,
      )
      .replace(/([?&](?:ticket|token|key|secret|access_token|signature)=)[^\s&"'\\]+/gi, `$1${HIDDEN}`),
  )
}
