/** How an address is written, in advice. */
const EXAMPLE = '://user:password@'

/** A text as it may be shown, or logged: without the password of any address in it. */
export function withoutPasswords(text: string): string {
  return text.replace(/\S+/g, withoutPassword).replace(/([?&]password=)[^\s&"']*/gi, '$1…')
}

/** A password ends at the last @ of its word, which is looked for once, however many addresses seem to begin. */
function withoutPassword(word: string): string {
  const end = word.lastIndexOf('@')
  const user = end === -1 ? null : /:\/\/[^:@/]*:/.exec(word)
  if (user === null || user.index + user[0].length > end) return word
  if (word.slice(user.index, end + 1) === EXAMPLE) return word
  return `${word.slice(0, user.index)}${user[0]}…${word.slice(end)}`
}
