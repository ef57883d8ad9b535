/** What a client tells its model before it has called anything: waking oneself, in five sentences. */
export function instructions(zone: string): string {
  return [
    'Wakeful keeps alarms: call `set` with a time and a note to yourself, and you are woken with that note at that time, even if everything was restarted in between.',
    `Times may be plain language ("tomorrow at 9am", "every weekday at 9:30"); name a timezone wherever people mean a clock on the wall, since ${zone} is used otherwise, and use \`preview\` to check what a time means.`,
    'Without a target a wake goes to your default target or else lies in your inbox: call `inbox` when you start, and whenever something should be due, to wait for it.',
    'A wake says when it was due, when it came and why it is late: do what its message asks, then `ack` it, with `complete` or `fail` where a report is awaited, or it is handed to you again.',
    'Give an alarm a `key` to find, move (`set` again, `reschedule`) or `cancel` it later, and ask `why` when something did not happen.',
  ].join(' ')
}
