/** Replaces a secret. */
const HIDDEN = '…'

/** Every known secret stands next to one of these. Most texts have none of them and need no further search. */
const SUSPECT = /w[kft]_|whsec_|:\/\/|[?&]|bearer|basic|authorization|cookie|x-api-key/i

/**
 * A text without API keys, webhook secrets, tickets, credentials in headers, and passwords in URLs. A key keeps its public
 * id, which identifies it and grants nothing.
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

/** The URL in help texts, which has no real password. */
const EXAMPLE = '://user:password@'

/** A text without the passwords of the URLs in it. */
export function withoutPasswords(text: string): string {
  return text.replace(/\S+/g, withoutPassword).replace(/([?&]password=)[^\s&"']*/gi, '$1…')
}

/** A password ends at the last @ of its word. Searching for that once keeps this linear, however many URLs seem to begin. */
function withoutPassword(word: string): string {
  const end = word.lastIndexOf('@')
  const user = end === -1 ? null : /:\/\/[^:@/]*:/.exec(word)
  if (user === null || user.index + user[0].length > end) return word
  if (word.slice(user.index, end + 1) === EXAMPLE) return word
  return `${word.slice(0, user.index)}${user[0]}…${word.slice(end)}`
}
