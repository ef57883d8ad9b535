/** A campaign that was itself killed must not leave its children behind, whatever they are doing. */
export function leaveWithParent(): void {
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) process.exit(1)
  }, 500).unref()
}
