/** The texts of the objects in `{"items":[…]}`, cut out as they are. */
export function itemTexts(json: string): string[] {
  const texts: string[] = []
  let [depth, from, isQuoted] = [0, 0, false]
  for (let at = '{"items":['.length; at < json.length - 2; at++) {
    const char = json[at]
    if (isQuoted) {
      if (char === '\\') at += 1
      else if (char === '"') isQuoted = false
      continue
    }
    if (char === '"') isQuoted = true
    else if (char === '{' || char === '[') {
      if (depth === 0) from = at
      depth += 1
    } else if (char === '}' || char === ']') {
      depth -= 1
      if (depth === 0) texts.push(json.slice(from, at + 1))
    }
  }
  return texts
}
