/** How an address is written, in advice. */
const EXAMPLE = '://user:password@'

/** A text as it may be shown, or logged: without the password of any address in it. */
export function withoutPasswords(text: string): string {
  return text
    .replace(/(:\/\/[^\s:@/]*):\S*@/g, (whole, user: string) => (whole === EXAMPLE ? whole : `${user}:…@`))
    .replace(/([?&]password=)[^\s&"']*/gi, '$1…')
}
