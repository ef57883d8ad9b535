/** A text as it may be shown, or logged: without the password of any address in it. */
export function withoutPasswords(text: string): string {
  return text.replace(/(:\/\/[^\s:@/]*):\S*@/g, '$1:…@').replace(/([?&]password=)[^\s&"']*/gi, '$1…')
}
